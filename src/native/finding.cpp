// Where numbers lie between declared cuts, and which of some declared texts a text is.

#include "native.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr size_t BLOCK = 512;  // numbers between two passes: what is known of them stays in the cache

// Finds how many of some cuts are at or below a number. The line is cut evenly into buckets, and a number's own bucket
// says how many cuts are in those before it, which are below it whatever is rounded, so only cuts of its own are left.
struct Buckets {
    double low, rate, last;
    std::vector<u32> before;
    std::vector<double> cuts;  // those beyond the last are infinite
    size_t half = 0;           // of as many as halvings must tell apart in a bucket

    Buckets(const double* knots, size_t stretches) : low(knots[0]) {
        size_t size = 64;
        while (size < 8 * stretches && size < 4096) size *= 2;
        last = static_cast<double>(size - 1);
        rate = static_cast<double>(size) / (knots[stretches] - low);
        before.assign(size + 1, 0);
        for (size_t cut = 1; cut < stretches; ++cut) ++before[bucket(knots[cut]) + 1];
        const size_t most = *std::max_element(before.begin(), before.end());
        for (size_t b = 0; b < size; ++b) before[b + 1] += before[b];
        while (half < most) half = 2 * half + 1;
        cuts.assign(stretches + half, std::numeric_limits<double>::infinity());
        std::copy(knots + 1, knots + stretches, cuts.begin());
        half = (half + 1) / 2;
    }

    INLINE inline size_t bucket(double number) const {
        const double place = (number - low) * rate;
        return static_cast<size_t>(place < last ? place : last);  // the last one also if the rate is too large a number
    }

    template <bool SINGLE>
    INLINE inline size_t below(double number) const {
        size_t found = before[bucket(number)];
        for (size_t some = SINGLE ? 1 : half; some; some /= 2) found += cuts[found + some - 1] <= number ? some : 0;
        return found;
    }
};

// SINGLE says that no bucket has several cuts.
template <bool SINGLE>
BEST_CPU void lay_out_block(const double* __restrict given, size_t n, const Buckets& buckets,
                            const double* __restrict knots, const double* __restrict widths, double low, double high,
                            double stretches, double steps, double* __restrict positions) {
    double offsets[BLOCK], lengths[BLOCK], places[BLOCK];
    for (size_t i = 0; i < n; ++i) {
        const double number = given[i] >= low && given[i] <= high ? given[i] : low;
        const size_t place = buckets.below<SINGLE>(number);
        offsets[i] = number - knots[place];
        lengths[i] = widths[place];
        places[i] = static_cast<double>(place);
    }
    for (size_t i = 0; i < n; ++i) {
        const double position = (places[i] + offsets[i] / lengths[i]) / stretches * steps;
        positions[i] = given[i] >= low && given[i] <= high ? position : std::numeric_limits<double>::quiet_NaN();
    }
}

void lay_out(In<double> numbers, In<double> knots, In<double> widths, double steps, Out<double> positions) {
    const size_t n = numbers.size(), stretches = widths.size();
    expect(stretches && knots.size() == stretches + 1 && positions.size() == n, "expected a width for each stretch");
    const Buckets buckets(knots.data(), stretches);
    nb::gil_scoped_release unlocked;
    const auto run = buckets.half == 1 ? lay_out_block<true> : lay_out_block<false>;
    for (size_t start = 0; start < n; start += BLOCK)
        run(numbers.data() + start, std::min(BLOCK, n - start), buckets, knots.data(), widths.data(), knots(0),
            knots(stretches), static_cast<double>(stretches), steps, positions.data() + start);
}

template <typename Word>
INLINE inline u64 difference(const u32* one, const u32* other) {
    Word a, b;
    std::memcpy(&a, one, sizeof a);
    std::memcpy(&b, other, sizeof b);
    return a ^ b;
}

INLINE inline bool equal(const u32* one, const u32* other, size_t characters) {
    u64 differ = characters % 2 ? one[characters - 1] ^ other[characters - 1] : 0;
    for (size_t at = 0; at + 1 < characters; at += 2) differ |= difference<u64>(one + at, other + at);
    return !differ;
}

INLINE inline bool empty(const u32* text, size_t characters) {
    u32 some = 0;
    for (size_t at = 0; at < characters; ++at) some |= text[at];
    return !some;
}

void find_texts(In<u32, 2> texts, In<u32, 2> declared, In<i64> columns, In<u64> factors, int bits, In<i64> table,
                In<u64> values, u64 other, Out<u64> found) {
    const size_t n = texts.shape(0), width = texts.shape(1), own = declared.shape(1), telling = columns.size();
    expect(bits > 0 && bits < 64 && table.size() == size_t{1} << bits && factors.size() == telling && own <= width &&
               values.size() == declared.shape(0) && found.size() == n,
           "expected a table and a value for the declared texts");
    const i64 *column = columns.data(), *slots = table.data();
    for (size_t k = 0; k < telling; ++k) expect(static_cast<u64>(column[k]) < width, "expected columns of the texts");
    const size_t size = values.size();
    nb::gil_scoped_release unlocked;
    const u32 *text = texts.data(), *known = declared.data();
    const u64 *factor = factors.data(), *value = values.data();
    u64* out = found.data();
    with_sides(telling, [&](auto constant) {
        const size_t mixing = constant ? size_t{constant} : telling;
        for (size_t i = 0; i < n; ++i, text += width) {
            u64 mixed = 0;
            for (size_t k = 0; k < mixing; ++k) mixed += text[column[k]] * factor[k];
            const size_t place = static_cast<size_t>(slots[mixed >> (64 - bits)]);
            const bool same = place < size && equal(text, known + place * own, own) && empty(text + own, width - own);
            out[i] = same ? value[place] : other;
        }
    });
}

}  // namespace

void define_finding(nb::module_& module) {
    define(module, "lay_out", lay_out);
    define(module, "find_texts", find_texts);
}

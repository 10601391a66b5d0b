// Where numbers lie between declared cuts, and which of some declared texts a text is.

#include "native.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace {

INLINE inline i64 bits_of(double number) {
    i64 bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

constexpr size_t BLOCK = 512;  // numbers between two passes: what is known of them stays in the cache

// Finds how many of some cuts are at or below a number; see Buckets in search.py.
struct Buckets {
    double middle, least;
    i64 least_bits;
    int shift;
    i64 first;
    const i64* before;
    const double* starts;
    size_t half;

    INLINE inline size_t bucket(double number) const {
        const double distance = middle - number;
        const i64 rank = (bits_of(std::fabs(distance) + least) - least_bits) >> shift;
        return static_cast<size_t>(first - (rank ^ (bits_of(distance) >> 63)));
    }

    // HALF is the half if it is small, so that the loop is a few steps on vectors, or else 0.
    template <size_t HALF>
    INLINE inline u64 up_to(double number) const {
        u64 found = static_cast<u64>(before[bucket(number)]);
#pragma GCC unroll 3
        for (u64 some = HALF ? HALF : half; some; some /= 2) found += -u64{starts[found + some] <= number} & some;
        return found;
    }
};

template <size_t HALF>
BEST_CPU void lay_out_block(const double* __restrict given, size_t n, const Buckets& buckets,
                            const double* __restrict widths, double low, double high, double stretches, double steps,
                            double* __restrict positions) {
    double offsets[BLOCK], lengths[BLOCK], places[BLOCK];
    for (size_t i = 0; i < n; ++i) {
        const double number = given[i] >= low && given[i] <= high ? given[i] : low;
        const u64 place = buckets.up_to<HALF>(number);
        offsets[i] = number - buckets.starts[place];
        lengths[i] = widths[place];
        places[i] = static_cast<double>(place);
    }
    for (size_t i = 0; i < n; ++i) {
        const double position = (places[i] + offsets[i] / lengths[i]) / stretches * steps;
        positions[i] = given[i] >= low && given[i] <= high ? position : std::numeric_limits<double>::quiet_NaN();
    }
}

void lay_out(In<double> numbers, double low, double high, In<double> widths, double steps, double middle, double least,
             int shift, i64 first, In<i64> before, In<double> starts, size_t half, Out<double> positions) {
    const size_t n = numbers.size(), stretches = widths.size();
    expect(stretches && low < high && positions.size() == n, "expected stretches between two ends");
    const Buckets buckets{middle, least, bits_of(least), shift, first, before.data(), starts.data(), half};
    expect(half && starts.size() >= stretches + 2 * half - 1 && shift >= 0 && shift < 64 && !buckets.bucket(low) &&
               buckets.bucket(high) + 1 == before.size(),
           "expected the buckets of the stretches");
    nb::gil_scoped_release unlocked;
    const auto run = half == 1   ? lay_out_block<1>
                     : half == 2 ? lay_out_block<2>
                     : half == 4 ? lay_out_block<4>
                                 : lay_out_block<0>;
    for (size_t start = 0; start < n; start += BLOCK)
        run(numbers.data() + start, std::min(BLOCK, n - start), buckets, widths.data(), low, high,
            static_cast<double>(stretches), steps, positions.data() + start);
}

typedef u64 Two __attribute__((vector_size(16)));  // words of four characters

INLINE inline u64 any(u32 word) { return word; }
INLINE inline u64 any(Two word) { return word[0] | word[1]; }

template <typename Word>
INLINE inline Word read(const u32* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// Whether a text is another with nothing but zeros after it. Words of several characters are compared, of which the
// last may overlap the one before: neither the other text nor what is after it may be shorter than a word.
template <typename Word>
INLINE inline bool equal(const u32* text, size_t width, const u32* other, size_t own) {
    constexpr size_t STEP = sizeof(Word) / sizeof(u32);
    Word differ = read<Word>(text + own - STEP) ^ read<Word>(other + own - STEP);
    for (size_t at = 0; at + STEP < own; at += STEP) differ |= read<Word>(text + at) ^ read<Word>(other + at);
    if (own < width) {
        differ |= read<Word>(text + width - STEP);
        for (size_t at = own; at + STEP < width; at += STEP) differ |= read<Word>(text + at);
    }
    return !any(differ);
}

struct Texts {
    const u32* known;
    size_t own;
    const i64* column;
    const u64* factor;
    size_t telling;
    int bits;
    const i64* table;
    const u64* value;
    size_t size;
    u64 other;

    // TELLING is the number of telling columns, 0 where it is none of the usual ones.
    template <size_t TELLING, typename Word>
    void find(const u32* text, size_t n, size_t width, u64* found) const {
        for (size_t i = 0; i < n; ++i, text += width) {
            u64 mixed = 0;
            for (size_t k = 0; k < (TELLING ? TELLING : telling); ++k) mixed += text[column[k]] * factor[k];
            const size_t place = static_cast<size_t>(table[mixed >> (64 - bits)]);
            const bool same = place < size && equal<Word>(text, width, known + place * own, own);
            found[i] = same ? value[place] : other;
        }
    }
};

void find_texts(In<u32, 2> texts, In<u32, 2> declared, In<i64> columns, In<u64> factors, int bits, In<i64> table,
                In<u64> values, u64 other, Out<u64> found) {
    const size_t n = texts.shape(0), width = texts.shape(1), own = declared.shape(1), telling = columns.size();
    expect(bits > 0 && bits < 64 && table.size() == size_t{1} << bits && factors.size() == telling && own &&
               own <= width && values.size() == declared.shape(0) && found.size() == n,
           "expected a table and a value for the declared texts");
    for (size_t k = 0; k < telling; ++k) expect(static_cast<u64>(columns(k)) < width, "expected columns of the texts");
    const Texts known{declared.data(), own, columns.data(), factors.data(), telling,
                      bits, table.data(), values.data(), values.size(), other};
    const bool wide = own >= 4 && (own == width || own + 4 <= width);
    nb::gil_scoped_release unlocked;
    with_sides(telling, [&](auto constant) {
        const auto run = wide ? &Texts::find<constant, Two> : &Texts::find<constant, u32>;
        (known.*run)(texts.data(), n, width, found.data());
    });
}

}  // namespace

void define_search(nb::module_& module) {
    define(module, "lay_out", lay_out);
    define(module, "find_texts", find_texts);
}

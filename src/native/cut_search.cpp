// Position of numbers on a scale with declared cuts. Native version of kernels/cut_search.py.

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

constexpr size_t BLOCK = 512;  // numbers per pass, so that their intermediate results stay in the cache

// Bucket index over cuts; see CutIndex in cut_search.py.
struct CutIndex {
    double middle, offset;
    i64 offset_bits;
    int shift;
    i64 first;
    const i64* before;
    const double* starts;
    size_t half;

    INLINE inline size_t bucket(double number) const {
        const double distance = middle - number;
        const i64 rank = (bits_of(std::fabs(distance) + offset) - offset_bits) >> shift;
        return static_cast<size_t>(first - (rank ^ (bits_of(distance) >> 63)));
    }

    // Number of cuts at or below a number. HALF is `half` if that is small, so that the loop is unrolled, or else 0.
    template <size_t HALF>
    INLINE inline u64 count_up_to(double number) const {
        u64 found = static_cast<u64>(before[bucket(number)]);
#pragma GCC unroll 3
        for (u64 some = HALF ? HALF : half; some; some /= 2) found += -u64{starts[found + some] <= number} & some;
        return found;
    }
};

template <size_t HALF>
BEST_CPU void interpolate_block(const double* __restrict given, size_t n, const CutIndex& index,
                            const double* __restrict widths, double low, double high, double intervals, double length,
                            double* __restrict positions) {
    double offsets[BLOCK], lengths[BLOCK], intervals_before[BLOCK];
    for (size_t i = 0; i < n; ++i) {
        const double number = given[i] >= low && given[i] <= high ? given[i] : low;
        const u64 interval = index.count_up_to<HALF>(number);
        offsets[i] = number - index.starts[interval];
        lengths[i] = widths[interval];
        intervals_before[i] = static_cast<double>(interval);
    }
    for (size_t i = 0; i < n; ++i) {
        const double position = (intervals_before[i] + offsets[i] / lengths[i]) / intervals * length;
        positions[i] = given[i] >= low && given[i] <= high ? position : std::numeric_limits<double>::quiet_NaN();
    }
}

void interpolate(In<double> numbers, double low, double high, In<double> widths, double length, double middle, double offset,
             int shift, i64 first, In<i64> before, In<double> starts, size_t half, Out<double> positions) {
    const size_t n = numbers.size(), intervals = widths.size();
    expect(intervals && low < high && positions.size() == n, "expected intervals between two bounds");
    const CutIndex index{middle, offset, bits_of(offset), shift, first, before.data(), starts.data(), half};
    expect(half && starts.size() >= intervals + 2 * half - 1 && shift >= 0 && shift < 64 && !index.bucket(low) &&
               index.bucket(high) + 1 == before.size(),
           "expected the index of the cuts");
    nb::gil_scoped_release unlocked;
    const auto run = half == 1   ? interpolate_block<1>
                     : half == 2 ? interpolate_block<2>
                     : half == 4 ? interpolate_block<4>
                                 : interpolate_block<0>;
    for (size_t start = 0; start < n; start += BLOCK)
        run(numbers.data() + start, std::min(BLOCK, n - start), index, widths.data(), low, high,
            static_cast<double>(intervals), length, positions.data() + start);
}

}  // namespace

void define_cut_search(nb::module_& module) { define(module, "interpolate", interpolate); }

// Shared by all files of the native kernels: array types, instruction sets, bit permutations.
//
// The kernels compute the same as privhp/kernels/plain.py and privhp/io/sources/csv_fields.py: codes, counts, estimates
// and values are equal bit for bit, samples in distribution. The interpreter lock is released while a loop runs, and a
// call keeps no state but the arrays that it is given.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <type_traits>

namespace nb = nanobind;

#define INLINE __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BEST_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BEST_CPU
#endif

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using i32 = std::int32_t;

template <typename T, size_t SIDES = 1>
using Out = nb::ndarray<T, nb::ndim<SIDES>, nb::c_contig, nb::device::cpu>;
template <typename T, size_t SIDES = 1>
using In = Out<const T, SIDES>;

constexpr u64 OUTSIDE = ~u64{0};

inline void expect(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}

// Arrays of another type or order are refused: results written to a converted copy would be lost.
template <typename Result, typename... Arguments>
void define(nb::module_& module, const char* name, Result (*function)(Arguments...)) {
    module.def(name, function, (static_cast<void>(sizeof(Arguments)), nb::arg().noconvert())...);
}

// The largest code, 0 for no codes.
u64 largest(const u64* codes, size_t n);

// The functions that each file adds to the module.
void define_encoding(nb::module_& module);
void define_counting(nb::module_& module);
void define_sampling(nb::module_& module);
void define_csv(nb::module_& module);
void define_cut_search(nb::module_& module);
void define_text_lookup(nb::module_& module);

// Calls a function with the number of sides of a record as a constant, or with 0 for more than four sides.
template <typename Run>
void with_sides(size_t sides, Run run) {
    switch (sides) {
        case 1: return run(std::integral_constant<size_t, 1>{});
        case 2: return run(std::integral_constant<size_t, 2>{});
        case 3: return run(std::integral_constant<size_t, 3>{});
        case 4: return run(std::integral_constant<size_t, 4>{});
        default: return run(std::integral_constant<size_t, 0>{});
    }
}

// Deposits the low bits of a value at the set bits of a mask, in at most six steps without a branch.
struct BitDeposit {
    u64 steps[6] = {}, mask = 0;

    BitDeposit() = default;

    explicit BitDeposit(u64 to) : mask(to) {
        u64 zeros = ~to << 1;
        for (int i = 0; i < 6; ++i) {
            u64 parity = zeros;
            for (int shift = 1; shift < 64; shift *= 2) parity ^= parity << shift;
            steps[i] = parity & to;
            to = (to ^ steps[i]) | (steps[i] >> (1 << i));
            zeros &= ~parity;
        }
    }

    // The inverse: the bits of a value at the set bits of the mask, as low bits.
    u64 extract(u64 value) const {
        value &= mask;
        for (int i = 0; i < 6; ++i) value = (value & ~steps[i]) | ((value & steps[i]) >> (1 << i));
        return value;
    }
};

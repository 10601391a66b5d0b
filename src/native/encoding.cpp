// Codes of points, integers and times: numbers are quantised and their bits interleaved.
// Native version of kernels/encoding.py.

#include "native.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace {

struct Side {
    double low, high, rate, last;
    BitDeposit deposit;
};

// The low bits of a value, deposited at the set bits of a mask. STEPS is the number of steps that move any bit.
template <int STEPS>
INLINE inline u64 deposit_bits(u64 v, const BitDeposit& deposit) {
#pragma GCC unroll 6
    for (int i = STEPS - 1; i >= 0; --i) v = (v & ~deposit.steps[i]) | ((v << (1 << i)) & deposit.steps[i]);
    return v & deposit.mask;
}

// The bits of one side of a point in its code, OUTSIDE if the side is out of bounds. With 6 STEPS codes may have more
// than 31 bits.
template <int STEPS>
INLINE inline u64 encode_side(double x, const Side& side, bool clamp) {
    if (clamp) x = x < side.low ? side.low : (x > side.high ? side.high : x);
    const bool inside = x >= side.low && x <= side.high;
    double position = ((inside ? x : side.low) - side.low) * side.rate;
    position = position < side.last ? position : side.last;
    const u64 cell = STEPS == 6 ? static_cast<u64>(static_cast<i64>(position))
                                : static_cast<u32>(static_cast<std::int32_t>(position));
    return inside ? deposit_bits<STEPS>(cell, side.deposit) : OUTSIDE;
}

template <size_t SIDES, int STEPS>
BEST_CPU void encode_points(const double* __restrict points, size_t n, const Side* given, size_t sides, bool clamp,
                            u64* __restrict codes) {
    const size_t d = SIDES ? SIDES : sides;
    std::array<Side, SIDES + 1> own;  // a copy without aliases, so that the loop is vectorised
    std::copy_n(given, SIDES, own.begin());
    const Side* side = SIDES ? own.data() : given;
    for (size_t i = 0; i < n; ++i) {
        u64 code = 0;
        for (size_t a = 0; a < d; ++a) code |= encode_side<STEPS>(points[i * d + a], side[a], clamp);
        codes[i] = code;
    }
}

void encode_grid(In<double, 2> points, In<double> low, In<double> high, In<double> rate, In<i64> bits, In<u64> masks,
                 bool clamp, Out<u64> codes) {
    const size_t d = points.shape(1);
    std::vector<Side> side;
    u64 wide = 0, far = 0;
    for (size_t a = 0; a < d; ++a) {
        side.push_back({low(a), high(a), rate(a), static_cast<double>((u64{1} << bits(a)) - 1), BitDeposit(masks(a))});
        wide |= masks(a) >> 31, far |= side[a].deposit.steps[4];
    }
    nb::gil_scoped_release unlocked;
    with_sides(d, [&](auto sides) {
        const auto run = wide ? encode_points<sides, 6> : far ? encode_points<sides, 5> : encode_points<sides, 4>;
        run(points.data(), points.shape(0), side.data(), d, clamp, codes.data());
    });
}

BEST_CPU void encode_integers(In<i64> numbers, i64 low, i64 high, int shift, bool clamp, Out<u64> codes) {
    nb::gil_scoped_release unlocked;
    const i64* given = numbers.data();
    u64* out = codes.data();
    for (size_t i = 0, n = numbers.size(); i < n; ++i) {
        i64 x = given[i];
        if (clamp) x = x < low ? low : (x > high ? high : x);
        out[i] = x >= low && x <= high ? static_cast<u64>(x - low) >> shift : OUTSIDE;
    }
}

// Quotient of numbers below 2^52, of which the rounded one is off by at most one.
struct SmallDivision {
    i64 divisor;
    double reciprocal;
    explicit SmallDivision(i64 d) : divisor(d), reciprocal(1.0 / static_cast<double>(d)) {}
    INLINE i64 operator()(i64 x) const {
        const i64 q = static_cast<i64>(static_cast<double>(x) * reciprocal), rest = x - q * divisor;
        return q + (rest >= divisor) - (rest < 0);
    }
};

struct Division {
    i64 divisor;
    INLINE i64 operator()(i64 x) const { return x / divisor; }
};

template <class Divide>
BEST_CPU void encode_ticks(const i64* ticks, size_t n, i64 first, i64 last, i64 midnight, i64 odd, int unit_bits,
                           u64 root, int shift, bool clamp, u64* codes) {
    const int finer = unit_bits - shift;  // halvings of a unit of odd ticks; of several units if it is negative
    const Divide divide{finer < 0 ? odd << -finer : odd};
    const i64 before = static_cast<i64>(root >> shift);
    for (size_t i = 0; i < n; ++i) {
        i64 x = ticks[i];
        if (clamp) x = x < first ? first : (x > last ? last : x);
        const bool inside = x >= first && x <= last;
        const i64 since = (inside ? x : first) - midnight;
        i64 cell = divide(since);
        if (finer > 0) cell = (cell << finer) + divide((since - cell * odd) << finer);
        codes[i] = inside ? static_cast<u64>(cell - before) : OUTSIDE;
    }
}

void encode_days(In<i64> ticks, i64 first, i64 last, i64 midnight, i64 odd, int unit_bits, u64 root, int shift,
                 bool clamp, Out<u64> codes) {
    nb::gil_scoped_release unlocked;
    const bool small = last - midnight < i64{1} << 52 && odd < i64{1} << (52 - std::max(unit_bits - shift, 0));
    const auto run = small ? encode_ticks<SmallDivision> : encode_ticks<Division>;
    run(ticks.data(), ticks.size(), first, last, midnight, odd, unit_bits, root, shift, clamp, codes.data());
}

template <int STEPS>
BEST_CPU void interleave_codes(const u64* __restrict column, size_t n, BitDeposit deposit, u64* __restrict codes) {
    for (size_t i = 0; i < n; ++i) codes[i] |= column[i] == OUTSIDE ? OUTSIDE : deposit_bits<STEPS>(column[i], deposit);
}

void interleave(In<u64> column, u64 mask, Out<u64> codes) {
    expect(column.size() == codes.size(), "column and codes have different lengths");
    nb::gil_scoped_release unlocked;
    const BitDeposit deposit(mask);
    const bool far = deposit.steps[4] | deposit.steps[5];
    (far ? interleave_codes<6> : interleave_codes<4>)(column.data(), column.size(), deposit, codes.data());
}

}  // namespace

void define_encoding(nb::module_& module) {
    define(module, "encode_days", encode_days);
    define(module, "encode_grid", encode_grid);
    define(module, "encode_integers", encode_integers);
    define(module, "interleave", interleave);
}

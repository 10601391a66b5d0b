// Points in cells, balanced or independent, draws from alias tables, and shuffles. Native version of
// kernels/point_sampling.py.

#include "native.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

using Lanes = u64 __attribute__((vector_size(64)));

// Fresh words of eight xoshiro256++ generators side by side.
BEST_CPU void refill(std::array<Lanes, 4>& state, u64* words, size_t n) {
    auto [a, b, c, d] = state;
    for (size_t i = 0; i < n; i += 8) {
        const Lanes sum = a + d, fresh = ((sum << 23) | (sum >> 41)) + a, shifted = b << 17;
        std::memcpy(words + i, &fresh, sizeof fresh);
        c ^= a, d ^= b, b ^= c, a ^= d;
        c ^= shifted;
        d = (d << 45) | (d >> 19);
    }
    state = {a, b, c, d};
}

struct Random {
    static constexpr size_t SIZE = 1024;
    std::array<Lanes, 4> state;
    alignas(64) std::array<u64, SIZE> words;
    size_t used = SIZE;

    explicit Random(In<u64> seed) { std::memcpy(&state, seed.data(), sizeof state); }

    const u64* take(size_t n) {  // n fresh words, at most SIZE
        if (used + n > SIZE) {
            refill(state, words.data(), SIZE);
            used = 0;
        }
        used += n;
        return words.data() + used - n;
    }
};

inline double unit(u64 word) {  // the upper 52 bits as a number in [0, 1)
    const u64 bits = (word >> 12) | 0x3FF0000000000000u;
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return number - 1.0;
}

// One side of a cell, and its balanced points: a lattice of steps from a start, in 2**-64 of the side, with jitter.
struct Strip {
    double base, span, jitter;
    u64 start, step;
};

// Points of a cell from rank `first` on, n rounded up to a multiple of eight. In a balanced sample one random word
// serves all sides of a point.
template <size_t SIDES, bool BALANCED>
BEST_CPU void fill_points(const Strip* __restrict strips, size_t sides, const u64* __restrict words, size_t first,
                          size_t n, double* __restrict points) {
    const size_t d = SIDES ? SIDES : sides;
    n = (n + 7) & ~size_t{7};
    const auto put = [&](size_t i, size_t a) INLINE {
        const Strip& s = strips[a];
        double share = unit(BALANCED ? words[i] << (a ? 32 : 0) : words[a * n + i]);
        if (BALANCED) share = unit(s.start + (first + i) * s.step) + share * s.jitter;
        points[i * d + a] = s.base + (BALANCED && share >= 1.0 ? share - 1.0 : share) * s.span;
    };
    if (SIDES)
        for (size_t i = 0; i < n; ++i)
            for (size_t a = 0; a < d; ++a) put(i, a);
    else
        for (size_t a = 0; a < d; ++a)
            for (size_t i = 0; i < n; ++i) put(i, a);
}

// Lower end and then length of each side of every cell, without margins.
std::vector<double> cell_sides(In<u64> codes, In<i64> levels, In<u64, 2> masks, In<double> low, In<double> width,
                             In<double> margin) {
    const size_t d = low.size();
    expect(codes.size() == levels.size(), "expected a level for each cell");
    const std::vector<BitDeposit> deposits(masks.data(), masks.data() + masks.size());
    std::vector<double> cells(2 * d * codes.size());
    for (size_t c = 0; c < codes.size(); ++c) {
        const size_t level = static_cast<size_t>(levels(c));
        expect(level < masks.shape(0), "expected levels of the grid");
        for (size_t a = 0; a < d; ++a) {
            const BitDeposit& deposit = deposits[level * d + a];
            const double length = width(a) / static_cast<double>(u64{1} << __builtin_popcountll(deposit.mask));
            cells[2 * d * c + a] = low(a) + static_cast<double>(deposit.extract(codes(c))) * length + margin(a);
            cells[2 * d * c + d + a] = length - 2.0 * margin(a);
        }
    }
    return cells;
}

void sample_grid_allocation(In<u64> codes, In<i64> levels, In<i64> counts, In<u64, 2> masks, In<double> low, In<double> width,
               In<double> margin, In<u64> steps, bool balanced, In<u64> words, Out<double, 2> points) {
    nb::gil_scoped_release unlocked;
    const auto cells = cell_sides(codes, levels, masks, low, width, margin);
    expect(codes.size() == counts.size(), "expected a count for each cell");
    Random random(words);
    const size_t d = low.size(), most = (Random::SIZE / d) & ~size_t{7};
    decltype(&fill_points<0, true>) fill;
    with_sides(d, [&](auto sides) { fill = balanced ? fill_points<sides, true> : fill_points<sides, false>; });
    std::vector<Strip> strips(d);
    std::vector<double> spill(most * d);
    double* out = points.data();
    size_t left = points.shape(0);
    for (size_t c = 0; c < counts.size(); ++c) {
        const size_t count = static_cast<size_t>(counts(c));
        expect(count <= left, "expected counts of at least 0 that sum to the number of points");
        if (count == 0) continue;
        const double inverse = 1.0 / static_cast<double>(count), *cell = &cells[2 * d * c];
        const double jitter = d == 2 ? std::sqrt(inverse) : std::pow(inverse, 1.0 / static_cast<double>(d));
        const u64* starts = random.take(d);
        for (size_t a = 0; a < d; ++a) strips[a] = {cell[a], cell[d + a], jitter, starts[a], steps(a)};
        strips[0] = {cell[0], cell[d], inverse, 0, ~u64{0} / count};  // one slice for each point
        for (size_t first = 0, n; first < count; first += n, left -= n, out += n * d) {
            n = std::min(count - first, most);
            const bool fits = n + 7 <= left;
            fill(strips.data(), d, random.take((balanced ? 1 : d) * ((n + 7) & ~size_t{7})), first, n,
                 fits ? out : spill.data());
            if (!fits) std::copy_n(spill.data(), n * d, out);
        }
    }
}

// Uniform points, each in the cell at its index.
template <size_t SIDES>
void scatter_points(const double* cells, const i64* indices, size_t n, size_t sides, Random& random, double* points) {
    const size_t d = SIDES ? SIDES : sides, most = Random::SIZE / d;
    for (size_t start = 0; start < n; start += most) {
        const u64* words = random.take(most * d);
        for (size_t i = start; i < std::min(start + most, n); ++i) {
            const double* cell = cells + 2 * d * static_cast<size_t>(indices[i]);
            for (size_t a = 0; a < d; ++a) points[i * d + a] = cell[a] + unit(*words++) * cell[d + a];
        }
    }
}

void sample_grid_cells(In<u64> codes, In<i64> levels, In<i64> indices, In<u64, 2> masks, In<double> low, In<double> width,
                  In<double> margin, In<u64> words, Out<double, 2> points) {
    nb::gil_scoped_release unlocked;
    const auto cells = cell_sides(codes, levels, masks, low, width, margin);
    const size_t n = indices.size(), d = low.size();
    expect(points.shape(0) == n && (n == 0 || largest(reinterpret_cast<const u64*>(indices.data()), n) < codes.size()),
           "expected the index of a cell for each point");
    Random random(words);
    with_sides(d, [&](auto side) { scatter_points<side>(cells.data(), indices.data(), n, d, random, points.data()); });
}

// Draws from Walker's alias table: a uniform index, or its alias.
void draw_indices(In<u64> thresholds, In<i64> aliases, In<u64> words, Out<i64> indices) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t size = thresholds.size(), n = indices.size();
    const u64* threshold = thresholds.data();
    const i64* alias = aliases.data();
    i64* drawn = indices.data();
    for (size_t start = 0; start < n; start += Random::SIZE) {
        const u64* fresh = random.take(Random::SIZE);
        for (size_t i = start; i < std::min(start + Random::SIZE, n); ++i) {
            const auto wide = static_cast<unsigned __int128>(*fresh++) * size;
            const i64 index = static_cast<i64>(wide >> 64), keeps = -(static_cast<u64>(wide) < threshold[index]);
            drawn[i] = (index & keeps) | (alias[index] & ~keeps);  // a branch would be mispredicted too often
        }
    }
}

// A uniformly random order: every row goes to one of 256 piles at random, then each pile is shuffled in the cache.
template <size_t ROW>
void shuffle_rows(const u64* from, size_t n, size_t row, Random& random, u64* to) {
    const size_t d = ROW ? ROW : row;
    std::vector<unsigned char> piles(n);
    for (size_t i = 0; i < n; i += 8 * Random::SIZE)
        std::memcpy(piles.data() + i, random.take(Random::SIZE), std::min(8 * Random::SIZE, n - i));
    std::array<size_t, 257> starts{};
    for (size_t i = 0; i < n; ++i) ++starts[piles[i] + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::array<size_t, 257> next = starts;
    for (size_t i = 0; i < n; ++i) {
        u64* target = to + d * next[piles[i]]++;
        for (size_t a = 0; a < d; ++a) target[a] = from[i * d + a];
    }
    for (size_t pile = 0; pile < 256; ++pile) {
        u64* rows = to + d * starts[pile];
        for (size_t left = starts[pile + 1] - starts[pile]; left > 1;) {
            const size_t steps = std::min(left - 1, Random::SIZE);
            const u64* words = random.take(steps);
            for (size_t i = 0; i < steps; ++i, --left) {
                const size_t other = static_cast<size_t>((static_cast<unsigned __int128>(words[i]) * left) >> 64);
                for (size_t a = 0; a < d; ++a) std::swap(rows[(left - 1) * d + a], rows[other * d + a]);
            }
        }
    }
}

void shuffle(In<u64, 2> records, In<u64> words, Out<u64, 2> shuffled) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t n = records.shape(0), d = records.shape(1);
    with_sides(d, [&](auto row) { shuffle_rows<row>(records.data(), n, d, random, shuffled.data()); });
}

}  // namespace

void define_sampling(nb::module_& module) {
    define(module, "sample_grid_allocation", sample_grid_allocation);
    define(module, "sample_grid_cells", sample_grid_cells);
    define(module, "draw_indices", draw_indices);
    define(module, "shuffle", shuffle);
}

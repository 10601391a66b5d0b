// The loops of kernels/plain.py, compiled. Same arguments, same results bit for bit.
//
// The interpreter lock is released while a loop runs, and nothing outlives a
// call but the arrays that it was given.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BEST_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BEST_CPU
#endif

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

namespace {

constexpr u64 OUTSIDE = ~u64{0};
constexpr size_t CHUNK = 4096;  // values between two passes: they stay in the first-level cache

// ---------------------------------------------------------------- encoding

// Moves the low bits of a value to the set bits of a mask, in at most six steps without a branch.
struct Spread {
    u64 steps[6], mask;

    explicit Spread(u64 to) : mask(to) {
        u64 zeros = ~to << 1;
        for (int i = 0; i < 6; ++i) {
            u64 parity = zeros;
            for (int shift = 1; shift < 64; shift *= 2) parity ^= parity << shift;
            steps[i] = parity & to;
            to = (to ^ steps[i]) | (steps[i] >> (1 << i));
            zeros &= ~parity;
        }
    }
};

struct Side {
    double low, high, rate, last;
    Spread spread;
};

// One side of each point into its bits of the codes. STRIDE is the number of sides, 0 if not known here;
// WIDE allows for codes above 32 bits.
template <size_t STRIDE, bool WIDE>
inline __attribute__((always_inline)) void encode_side(const double* __restrict points, size_t n, size_t sides,
                                                       const Side& side, bool clamp, u64* __restrict codes) {
    const size_t stride = STRIDE ? STRIDE : sides;
    const double low = side.low, high = side.high, rate = side.rate, last = side.last;
    const u64 s0 = side.spread.steps[0], s1 = side.spread.steps[1], s2 = side.spread.steps[2];
    const u64 s3 = side.spread.steps[3], s4 = side.spread.steps[4], s5 = side.spread.steps[5];
    for (size_t i = 0; i < n; ++i) {
        double x = points[i * stride];
        if (clamp) x = x < low ? low : (x > high ? high : x);
        const bool inside = x >= low && x <= high;
        double position = ((inside ? x : low) - low) * rate;
        position = position < last ? position : last;
        u64 v = WIDE ? static_cast<u64>(static_cast<i64>(position)) : static_cast<u32>(static_cast<std::int32_t>(position));
        if (STRIDE != 1) {
            if (WIDE) v = (v & ~s5) | ((v << 32) & s5);
            v = (v & ~s4) | ((v << 16) & s4);
            v = (v & ~s3) | ((v << 8) & s3);
            v = (v & ~s2) | ((v << 4) & s2);
            v = (v & ~s1) | ((v << 2) & s1);
            v = ((v & ~s0) | ((v << 1) & s0)) & side.spread.mask;
        }
        codes[i] |= inside ? v : OUTSIDE;
    }
}

template <size_t STRIDE, bool WIDE>
BEST_CPU void encode_points(const double* points, size_t n, const std::vector<Side>& sides, bool clamp, u64* codes) {
    const size_t d = sides.size();
    std::fill_n(codes, n, 0);
    for (size_t start = 0; start < n; start += CHUNK)
        for (size_t a = 0; a < d; ++a)
            encode_side<STRIDE, WIDE>(points + start * d + a, std::min(CHUNK, n - start), d, sides[a], clamp,
                                      codes + start);
}

void encode_grid(In2<double> points, In<double> low, In<double> high, In<double> rate, In<i64> bits, In<u64> masks,
                 bool clamp, Out<u64> codes) {
    std::vector<Side> sides;
    const size_t d = points.shape(1);
    i64 level = 0;
    for (size_t a = 0; a < d; ++a) {
        sides.push_back({low(a), high(a), rate(a), static_cast<double>((u64{1} << bits(a)) - 1), Spread(masks(a))});
        level += bits(a);
    }
    const bool wide = level > 31;
    nb::gil_scoped_release unlocked;
    const auto run = d == 1   ? (wide ? encode_points<1, true> : encode_points<1, false>)
                     : d == 2 ? (wide ? encode_points<2, true> : encode_points<2, false>)
                              : (wide ? encode_points<0, true> : encode_points<0, false>);
    run(points.data(), points.shape(0), sides, clamp, codes.data());
}

template <typename T>
BEST_CPU void encode_run(const T* numbers, size_t n, i64 low, i64 high, int shift, bool clamp, u64* codes) {
    for (size_t i = 0; i < n; ++i) {
        i64 x = static_cast<i64>(numbers[i]);
        if (clamp) x = x < low ? low : (x > high ? high : x);
        const bool inside = x >= low && x <= high;
        codes[i] = inside ? static_cast<u64>(x - low) >> shift : OUTSIDE;
    }
}

template <typename T>
void encode_integers(In<T> numbers, i64 low, i64 high, int shift, bool clamp, Out<u64> codes) {
    nb::gil_scoped_release unlocked;
    encode_run(numbers.data(), numbers.size(), low, high, shift, clamp, codes.data());
}

// ---------------------------------------------------------------- hashing

// Place of each cell in the joint table of a hashed ancestor and its descendants.
BEST_CPU void hash_cells(const u64* cells, size_t n, int shift, int apart, u64 high, u64 low, u64 offset, u64 width,
                         bool wide, u32* places) {
    const u64 own = (u64{1} << apart) - 1;
    if (wide) {
        for (size_t i = 0; i < n; ++i) {
            const u64 cell = cells[i] >> shift, base = cell >> apart;
            const u64 mixed = (base >> 32) * high + (base & 0xFFFFFFFFu) * low + offset;
            places[i] = static_cast<u32>(((((mixed >> 32) * width) >> 32) << apart) | (cell & own));
        }
    } else {
        for (size_t i = 0; i < n; ++i) {
            const u64 cell = cells[i] >> shift;
            const u64 mixed = (cell >> apart) * low + offset;
            places[i] = static_cast<u32>(((((mixed >> 32) * width) >> 32) << apart) | (cell & own));
        }
    }
}

// Levels whose cells are hashed by their ancestors at one level, coarsest first.
struct Group {
    int shift, apart;  // from a code to a cell of the deepest level, from there to the hashed level
    bool wide;
    size_t rows, width;
    std::vector<u64> words;
    std::vector<int> levels_apart;
    std::vector<i64*> tables;
};

// Adds one, or a weight, to the counter at each place; loads run ahead of the stores.
template <typename Count, typename Place, typename Weight>
inline void bump(Count* __restrict counts, const Place* __restrict places, const Weight* __restrict weights, size_t n) {
    if (weights) {
        for (size_t i = 0; i < n; ++i) counts[places[i]] += static_cast<Count>(weights[i]);
        return;
    }
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const Place a = places[i], b = places[i + 1], c = places[i + 2], d = places[i + 3];
        const Place e = places[i + 4], f = places[i + 5], g = places[i + 6], h = places[i + 7];
        ++counts[a], ++counts[b], ++counts[c], ++counts[d], ++counts[e], ++counts[f], ++counts[g], ++counts[h];
    }
    for (; i < n; ++i) ++counts[places[i]];
}

template <typename Weight>
void add_rows(const u64* codes, const Weight* weights, size_t n, const Group& group) {
    std::array<u32, CHUNK> places, buckets;
    const size_t joint_size = group.width << group.apart;
    const bool joined = group.tables.size() > 1 && 2 * joint_size <= n && sizeof(Weight) < 8;
    std::vector<u32> joint;
    for (size_t row = 0; row < group.rows; ++row) {
        const u64* word = &group.words[3 * row];
        if (joined) joint.assign(joint_size, 0);
        for (size_t start = 0; start < n; start += CHUNK) {
            const size_t m = std::min(CHUNK, n - start);
            hash_cells(codes + start, m, group.shift, group.apart, word[0], word[1], word[2], group.width, group.wide,
                       places.data());
            const Weight* weight = weights ? weights + start : nullptr;
            if (joined) {
                bump(joint.data(), places.data(), weight, m);
                continue;
            }
            for (size_t t = 0; t < group.tables.size(); ++t) {
                const int up = group.apart - group.levels_apart[t];
                const u32 own = (u32{1} << group.apart) - 1;
                for (size_t i = 0; i < m; ++i)
                    buckets[i] = (places[i] >> group.apart) ^ ((places[i] & own) >> up);
                bump(group.tables[t] + row * group.width, buckets.data(), weight, m);
            }
        }
        if (!joined) continue;
        // Deepest level first; halving the joint table leads from each level to the one above.
        int apart = group.apart;
        for (size_t t = group.tables.size(); t-- > 0;) {
            for (; apart > group.levels_apart[t]; --apart)
                for (size_t i = 0; i < group.width << (apart - 1); ++i) joint[i] = joint[2 * i] + joint[2 * i + 1];
            i64* counts = group.tables[t] + row * group.width;
            const size_t family = size_t{1} << apart;
            for (size_t bucket = 0; bucket < group.width; ++bucket)
                for (size_t own = 0; own < family; ++own) counts[bucket ^ own] += joint[bucket * family + own];
        }
    }
}

// ---------------------------------------------------------------- counting

// The codes of a batch that have a cell. Where few codes make up most of the
// batch, as a first look at it tells, equal ones are added up in a small table.
struct Kept {
    static constexpr int SLOT_BITS = 14;
    static constexpr size_t PROBE = 4096;
    std::vector<u64> own_codes;
    std::vector<u32> weights;
    const u64* codes;
    size_t size;

    Kept(const u64* raw, size_t n, u64 limit) : codes(raw), size(n) {
        const auto fits = [limit](u64 code) { return code < limit; };
        if (!std::all_of(raw, raw + n, fits)) {
            own_codes.reserve(n);
            std::copy_if(raw, raw + n, std::back_inserter(own_codes), fits);
            codes = own_codes.data();
            size = own_codes.size();
        }
        if (size >= 4 * PROBE && 2 * combine(PROBE).first.size() < PROBE) {
            std::tie(own_codes, weights) = combine(size);
            codes = own_codes.data();
            size = own_codes.size();
        }
    }

    std::pair<std::vector<u64>, std::vector<u32>> combine(size_t n) const {
        std::vector<u64> slots(size_t{1} << SLOT_BITS, OUTSIDE), sums_of;
        std::vector<u32> held(slots.size(), 0), sums;
        const auto flush = [&](size_t slot) {
            if (!held[slot]) return;
            sums_of.push_back(slots[slot]);
            sums.push_back(held[slot]);
        };
        for (size_t i = 0; i < n; ++i) {
            const size_t slot = (codes[i] * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
            if (slots[slot] != codes[i]) {
                flush(slot);
                slots[slot] = codes[i];
                held[slot] = 0;
            }
            ++held[slot];
        }
        for (size_t slot = 0; slot < slots.size(); ++slot) flush(slot);
        return {std::move(sums_of), std::move(sums)};
    }
};

template <typename Weight>
void add_all(const u64* codes, const Weight* weights, size_t n, int shift, i64* counters,
             const std::vector<Group>& groups) {
    std::array<u64, CHUNK> cells;
    for (size_t start = 0; start < n; start += CHUNK) {
        const size_t m = std::min(CHUNK, n - start);
        for (size_t i = 0; i < m; ++i) cells[i] = codes[start + i] >> shift;
        bump(counters, cells.data(), weights ? weights + start : nullptr, m);
    }
    for (const Group& group : groups) add_rows(codes, weights, n, group);
}

std::vector<Group> read_groups(nb::list list, int depth) {
    std::vector<Group> groups;
    for (nb::handle item : list) {
        auto fields = nb::cast<nb::tuple>(item);
        const int base = nb::cast<int>(fields[0]);
        auto words = nb::cast<In2<u64>>(fields[1]);
        Group group{};
        group.rows = words.shape(0);
        group.words.assign(words.data(), words.data() + words.size());
        group.wide = base > 32;
        for (nb::handle part : nb::cast<nb::list>(fields[2])) {
            auto level_and_table = nb::cast<nb::tuple>(part);
            const int level = nb::cast<int>(level_and_table[0]);
            auto table = nb::cast<Out2<i64>>(level_and_table[1]);
            group.levels_apart.push_back(level - base);
            group.tables.push_back(table.data());
            group.width = table.shape(1);
            group.apart = level - base;
            group.shift = depth - level;
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

void add(In<u64> codes, int depth, int exact_depth, Out<i64> counters, nb::list list) {
    const auto groups = read_groups(list, depth);
    nb::gil_scoped_release unlocked;
    const Kept kept(codes.data(), codes.size(), u64{1} << depth);
    add_all<u32>(kept.codes, kept.weights.empty() ? nullptr : kept.weights.data(), kept.size, depth - exact_depth,
                 counters.data(), groups);
}

void add_weighted(In<u64> codes, In<i64> weights, int depth, int exact_depth, Out<i64> counters, nb::list list) {
    const auto groups = read_groups(list, depth);
    nb::gil_scoped_release unlocked;
    std::vector<u64> kept_codes;
    std::vector<i64> kept_weights;
    for (size_t i = 0; i < codes.size(); ++i)
        if (codes(i) < u64{1} << depth) {
            kept_codes.push_back(codes(i));
            kept_weights.push_back(weights(i));
        }
    add_all<i64>(kept_codes.data(), kept_weights.data(), kept_codes.size(), depth - exact_depth, counters.data(),
                 groups);
}

void estimate(In2<i64> table, In2<u64> words, In<u64> cells, int apart, Out<i64> least) {
    nb::gil_scoped_release unlocked;
    std::array<u32, CHUNK> places;
    const size_t width = table.shape(1), n = cells.size();
    const u32 own = (u32{1} << apart) - 1;
    std::fill_n(least.data(), n, INT64_MAX);
    for (size_t start = 0; start < n; start += CHUNK) {
        const size_t m = std::min(CHUNK, n - start);
        for (size_t row = 0; row < table.shape(0); ++row) {
            hash_cells(cells.data() + start, m, 0, apart, words(row, 0), words(row, 1), words(row, 2), width, true,
                       places.data());
            const i64* counts = table.data() + row * width;
            i64* out = least.data() + start;
            for (size_t i = 0; i < m; ++i)
                out[i] = std::min(out[i], counts[(places[i] >> apart) ^ (places[i] & own)]);
        }
    }
}

// ---------------------------------------------------------------- sampling

// Eight xoshiro256++ generators side by side.
struct Random {
    static constexpr size_t LANES = 8, SIZE = 1024;
    u64 state[4][LANES];
    std::array<u64, SIZE> words;
    size_t used = SIZE;

    explicit Random(In<u64> seed) { std::memcpy(state, seed.data(), sizeof state); }

    // At least n fresh words in a row.
    const u64* take(size_t n) {
        if (used + n > SIZE) {
            refill(state, words.data());
            used = 0;
        }
        used += n;
        return words.data() + used - n;
    }

    static void refill(u64 (*state)[LANES], u64* words);
};

BEST_CPU void Random::refill(u64 (*state)[LANES], u64* words) {
    const auto rotate = [](u64 value, int by) { return (value << by) | (value >> (64 - by)); };
    for (size_t start = 0; start < SIZE; start += LANES)
        for (size_t lane = 0; lane < LANES; ++lane) {
            u64 a = state[0][lane], b = state[1][lane], c = state[2][lane], d = state[3][lane];
            words[start + lane] = rotate(a + d, 23) + a;
            const u64 shifted = b << 17;
            c ^= a, d ^= b, b ^= c, a ^= d;
            c ^= shifted;
            d = rotate(d, 45);
            state[0][lane] = a, state[1][lane] = b, state[2][lane] = c, state[3][lane] = d;
        }
}

inline double unit(u64 word) {  // the upper 52 bits as a number in [0, 1)
    const u64 bits = (word >> 12) | 0x3FF0000000000000u;
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return number - 1.0;
}

// One side of the points of a cell: n of them from rank `first` of `count`, with a random word for each.
struct Strip {
    double low, high, cell, cut, rate, last, inverse, jitter;
    u64 start, step;
    bool whole, even, slices;
};

template <size_t STRIDE>
inline __attribute__((always_inline)) void fill_strip(const Strip& strip, const u64* __restrict words, size_t first,
                                                      size_t n, size_t sides, double* __restrict points) {
    const size_t stride = STRIDE ? STRIDE : sides;
    const Strip s = strip;
    for (size_t i = 0; i < n; ++i) {
        double share = unit(words[i]);
        if (s.even) {
            const double sliced = (static_cast<double>(static_cast<i64>(first + i)) + share) * s.inverse;
            double shifted = unit(s.start + static_cast<u64>(first + i) * s.step) + share * s.jitter;
            shifted = shifted < 1.0 ? shifted : shifted - 1.0;
            share = s.slices ? sliced : shifted;
        }
        double x = s.low + (s.cell + share) * s.cut;
        if (s.whole) x = __builtin_rint(x);
        x = x < s.high ? x : s.high;
        double position = (x - s.low) * s.rate;
        position = position < s.last ? position : s.last;
        const bool at_home = position >= s.cell && position < s.cell + 1.0;
        points[i * stride] = at_home ? x : s.low + (s.cell + 0.5) * s.cut;
    }
}

template <size_t STRIDE>
BEST_CPU void fill_run(const Strip* strips, const u64* words, size_t first, size_t n, size_t sides, double* points) {
    for (size_t a = 0; a < sides; ++a) fill_strip<STRIDE>(strips[a], words + a * n, first, n, sides, points + a);
}

void fill_grid(In2<u64> cells, In2<i64> bits, In<i64> counts, In<double> low, In<double> high, In<double> width,
               In<u64> steps, bool whole, bool even, In<u64> words, Out2<double> points) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t d = low.size(), most = Random::SIZE / d;
    double* out = points.data();
    std::vector<Strip> strips(d);
    for (size_t c = 0; c < counts.size(); ++c) {
        const size_t count = static_cast<size_t>(counts(c));
        if (!count) continue;
        for (size_t a = 0; a < d; ++a) {
            const double halvings = static_cast<double>(u64{1} << bits(c, a));
            strips[a] = {low(a), high(a), static_cast<double>(cells(c, a)), width(a) / halvings,
                         1.0 / width(a) * halvings, halvings - 1.0, 1.0 / static_cast<double>(count),
                         d == 1 ? 0.0 : std::pow(static_cast<double>(count), -1.0 / static_cast<double>(d)),
                         even && a ? *random.take(1) : 0, steps(a), whole, even, a == 0};
        }
        for (size_t first = 0; first < count; first += most) {
            const size_t n = std::min(most, count - first);
            const u64* fresh = random.take(n * d);
            (d == 1 ? fill_run<1> : d == 2 ? fill_run<2> : fill_run<0>)(strips.data(), fresh, first, n, d, out);
            out += n * d;
        }
    }
}

// A uniformly random order: every row goes to one of 256 piles, then each pile is shuffled in the cache.
void shuffle(In2<u64> records, In<u64> words, Out2<u64> shuffled) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t n = records.shape(0), d = records.shape(1);
    std::vector<unsigned char> piles(n);
    std::array<size_t, 257> starts{};
    for (size_t i = 0; i < n; i += 8) {
        const u64 word = *random.take(1);
        std::memcpy(piles.data() + i, &word, std::min<size_t>(8, n - i));
    }
    for (size_t i = 0; i < n; ++i) ++starts[piles[i] + 1];
    for (size_t pile = 0; pile < 256; ++pile) starts[pile + 1] += starts[pile];
    std::array<size_t, 257> next = starts;
    const u64* from = records.data();
    u64* to = shuffled.data();
    for (size_t i = 0; i < n; ++i) std::copy_n(from + i * d, d, to + next[piles[i]]++ * d);
    for (size_t pile = 0; pile < 256; ++pile)
        for (size_t size = starts[pile + 1] - starts[pile]; size > 1; --size) {
            u64* row = to + (starts[pile] + size - 1) * d;
            const size_t other = static_cast<size_t>((static_cast<unsigned __int128>(*random.take(1)) * size) >> 64);
            std::swap_ranges(row, row + d, to + (starts[pile] + other) * d);
        }
}

}  // namespace

NB_MODULE(native, module) {
    module.def("encode_grid", &encode_grid);
    module.def("encode_integers", &encode_integers<i64>);
    module.def("encode_integers", &encode_integers<u32>);
    module.def("add", &add);
    module.def("add_weighted", &add_weighted);
    module.def("estimate", &estimate);
    module.def("fill_grid", &fill_grid);
    module.def("shuffle", &shuffle);
}

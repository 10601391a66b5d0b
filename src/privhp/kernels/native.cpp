// The loops of kernels/plain.py, compiled: the same codes, counts and estimates bit for bit, samples of the same
// distribution.
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
constexpr size_t CHUNK = 4096;   // values between two passes: they stay in the first-level cache
constexpr size_t BLOCK = 65535;  // records counted at once: 16 bits hold any of their counts

// ---------------------------------------------------------------- encoding

// Moves the low bits of a value to the set bits of a mask, in at most six steps without a branch.
struct Spread {
    u64 steps[6] = {}, mask = 0;

    Spread() = default;

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

    // The inverse: the bits of a value at the set bits of the mask.
    u64 gather(u64 value) const {
        value &= mask;
        for (int i = 0; i < 6; ++i) value = (value & ~steps[i]) | ((value & steps[i]) >> (1 << i));
        return value;
    }
};

struct Side {
    double low, high, rate, last;
    Spread spread;
};

// The bits of a code that a side of a point makes, OUTSIDE if it is out of bounds. REACH is the number of steps by
// which bits move, 6 also allowing for codes above 31 bits.
template <int REACH>
inline __attribute__((always_inline)) u64 encode_side(double x, const Side& side, bool clamp) {
    const u64* steps = side.spread.steps;
    if (clamp) x = x < side.low ? side.low : (x > side.high ? side.high : x);
    const bool inside = x >= side.low && x <= side.high;
    double position = ((inside ? x : side.low) - side.low) * side.rate;
    position = position < side.last ? position : side.last;
    u64 v = REACH == 6 ? static_cast<u64>(static_cast<i64>(position))
                       : static_cast<u32>(static_cast<std::int32_t>(position));
    if (REACH > 5) v = (v & ~steps[5]) | ((v << 32) & steps[5]);
    if (REACH > 4) v = (v & ~steps[4]) | ((v << 16) & steps[4]);
    if (REACH > 3) v = (v & ~steps[3]) | ((v << 8) & steps[3]);
    if (REACH > 2) v = (v & ~steps[2]) | ((v << 4) & steps[2]);
    if (REACH > 1) v = (v & ~steps[1]) | ((v << 2) & steps[1]);
    if (REACH > 0) v = ((v & ~steps[0]) | ((v << 1) & steps[0])) & side.spread.mask;
    return inside ? v : OUTSIDE;
}

// SIDES is the number of sides, 0 if not known here.
template <size_t SIDES, int REACH>
BEST_CPU void encode_points(const double* __restrict points, size_t n, const Side* given, size_t sides, bool clamp,
                            u64* __restrict codes) {
    if (SIDES) {
        std::array<Side, SIDES ? SIDES : 1> side;
        std::copy_n(given, SIDES, side.begin());
        for (size_t i = 0; i < n; ++i) {
            u64 code = 0;
            for (size_t a = 0; a < SIDES; ++a) code |= encode_side<REACH>(points[i * SIDES + a], side[a], clamp);
            codes[i] = code;
        }
        return;
    }
    std::fill_n(codes, n, 0);
    for (size_t start = 0; start < n; start += CHUNK)
        for (size_t a = 0; a < sides; ++a)
            for (size_t i = start; i < std::min(start + CHUNK, n); ++i)
                codes[i] |= encode_side<REACH>(points[i * sides + a], given[a], clamp);
}

void encode_grid(In2<double> points, In<double> low, In<double> high, In<double> rate, In<i64> bits, In<u64> masks,
                 bool clamp, Out<u64> codes) {
    std::vector<Side> sides;
    const size_t d = points.shape(1);
    int reach = 4;
    for (size_t a = 0; a < d; ++a) {
        sides.push_back({low(a), high(a), rate(a), static_cast<double>((u64{1} << bits(a)) - 1), Spread(masks(a))});
        reach = std::max(reach, masks(a) >> 31 ? 6 : sides[a].spread.steps[4] ? 5 : 4);
    }
    nb::gil_scoped_release unlocked;
    static constexpr decltype(&encode_points<1, 0>) runs[4][3] = {
        {encode_points<1, 0>, encode_points<1, 0>, encode_points<1, 6>},
        {encode_points<2, 4>, encode_points<2, 5>, encode_points<2, 6>},
        {encode_points<4, 4>, encode_points<4, 5>, encode_points<4, 6>},
        {encode_points<0, 4>, encode_points<0, 5>, encode_points<0, 6>},
    };
    const auto run = runs[d == 1 ? 0 : d == 2 ? 1 : d == 4 ? 2 : 3][reach - 4];
    run(points.data(), points.shape(0), sides.data(), d, clamp, codes.data());
}

BEST_CPU void encode_run(const i64* numbers, size_t n, i64 low, i64 high, int shift, bool clamp, u64* codes) {
    for (size_t i = 0; i < n; ++i) {
        i64 x = numbers[i];
        if (clamp) x = x < low ? low : (x > high ? high : x);
        const bool inside = x >= low && x <= high;
        codes[i] = inside ? static_cast<u64>(x - low) >> shift : OUTSIDE;
    }
}

void encode_integers(In<i64> numbers, i64 low, i64 high, int shift, bool clamp, Out<u64> codes) {
    nb::gil_scoped_release unlocked;
    encode_run(numbers.data(), numbers.size(), low, high, shift, clamp, codes.data());
}

// ---------------------------------------------------------------- hashing

enum Layout { BUCKETS_FIRST, BUCKETS_LAST };

// Bucket of each cell's hashed ancestor together with its place among the descendants: as one number, bucket first, or
// as its place in a joint table with a row for each descendant and a column for each bucket.
template <Layout LAYOUT, bool WIDE, typename Place>
BEST_CPU void hash_cells(const u64* __restrict cells, size_t n, int shift, int apart, const u64* words, u64 width,
                         Place* __restrict places) {
    const u64 high = words[0], low = words[1], offset = words[2], own = (u64{1} << apart) - 1;
    for (size_t i = 0; i < n; ++i) {
        const u64 cell = cells[i] >> shift, base = cell >> apart;
        const u64 mixed = WIDE ? (base >> 32) * high + (base & 0xFFFFFFFFu) * low + offset : base * low + offset;
        const u64 bucket = ((mixed >> 32) * width) >> 32, place = cell & own;
        places[i] = static_cast<Place>(LAYOUT == BUCKETS_FIRST ? (bucket << apart) | place : place * width + bucket);
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

// Adds one row of a joint table to another, with its buckets moved by exclusive or.
template <size_t KNOWN, typename Joint>
void add_moved(Joint* __restrict to, const Joint* __restrict from, size_t width, size_t given) {
    const size_t move = KNOWN ? KNOWN : given;
    for (size_t start = 0; start < width; start += 2 * move)
        for (size_t i = start; i < start + move; ++i) {
            to[i] = static_cast<Joint>(to[i] + from[i + move]);
            to[i + move] = static_cast<Joint>(to[i + move] + from[i]);
        }
}

// Adds a joint table to the tables of its levels, the deepest first: rows moved and added, one bit of what they stand
// for after the other, are the table of a level; rows added two by two are the joint table of the level above.
template <typename Joint>
void add_joint(std::vector<Joint>& joint, const Group& group, size_t row) {
    const size_t width = group.width;
    std::vector<Joint> rows;
    int apart = group.apart;
    for (size_t t = group.tables.size(); t-- > 0;) {
        for (; apart > group.levels_apart[t]; --apart)
            for (size_t own = 0; own < size_t{1} << (apart - 1); ++own)
                for (size_t i = 0; i < width; ++i)
                    joint[own * width + i] = static_cast<Joint>(joint[2 * own * width + i] + joint[(2 * own + 1) * width + i]);
        rows.assign(joint.begin(), joint.begin() + static_cast<std::ptrdiff_t>(width << apart));
        for (size_t move = 1; move < size_t{1} << apart; move *= 2) {
            const auto add = move == 1   ? add_moved<1, Joint>
                             : move == 2 ? add_moved<2, Joint>
                             : move == 4 ? add_moved<4, Joint>
                             : move == 8 ? add_moved<8, Joint>
                                         : add_moved<0, Joint>;
            for (size_t own = 0; own < size_t{1} << apart; own += 2 * move)
                add(&rows[own * width], &rows[(own + move) * width], width, move);
        }
        i64* counts = group.tables[t] + row * width;
        for (size_t i = 0; i < width; ++i) counts[i] += rows[i];
    }
}

// Counts codes in one joint table per row, where that is small beside the batch.
template <typename Small, typename Weight>
void add_jointly(const u64* codes, const Weight* weights, size_t n, const Group& group) {
    std::array<Small, CHUNK> places;
    std::vector<Small> joint;
    const auto hash = group.wide ? hash_cells<BUCKETS_LAST, true, Small> : hash_cells<BUCKETS_LAST, false, Small>;
    for (size_t row = 0; row < group.rows; ++row) {
        joint.assign(group.width << group.apart, 0);
        for (size_t start = 0; start < n; start += CHUNK) {
            const size_t m = std::min(CHUNK, n - start);
            hash(codes + start, m, group.shift, group.apart, &group.words[3 * row], group.width, places.data());
            bump(joint.data(), places.data(), weights ? weights + start : nullptr, m);
        }
        add_joint(joint, group, row);
    }
}

// Counts codes in the table of each level.
template <typename Weight>
void add_singly(const u64* codes, const Weight* weights, size_t n, const Group& group) {
    std::array<u32, CHUNK> places, buckets;
    const auto hash = group.wide ? hash_cells<BUCKETS_FIRST, true, u32> : hash_cells<BUCKETS_FIRST, false, u32>;
    const u32 own = (u32{1} << group.apart) - 1;
    for (size_t row = 0; row < group.rows; ++row)
        for (size_t start = 0; start < n; start += CHUNK) {
            const size_t m = std::min(CHUNK, n - start);
            hash(codes + start, m, group.shift, group.apart, &group.words[3 * row], group.width, places.data());
            for (size_t t = 0; t < group.tables.size(); ++t) {
                const int up = group.apart - group.levels_apart[t];
                for (size_t i = 0; i < m; ++i) buckets[i] = (places[i] >> group.apart) ^ ((places[i] & own) >> up);
                bump(group.tables[t] + row * group.width, buckets.data(), weights ? weights + start : nullptr, m);
            }
        }
}

// ---------------------------------------------------------------- counting

BEST_CPU u64 largest(const u64* codes, size_t n) {
    u64 found = 0;
    for (size_t i = 0; i < n; ++i) found = std::max(found, codes[i]);
    return found;
}

// The codes of a batch that have a cell. Where few codes make up most of the
// batch, as its beginning tells, equal ones are added up in a small table.
struct Kept {
    static constexpr int SLOT_BITS = 12;
    static constexpr size_t PROBE = 2048;
    struct Slot {
        u64 code = OUTSIDE;
        u32 held[2] = {0, 0};  // in turns, so that a run of one code does not wait for itself
    };
    std::vector<u64> own_codes;
    std::vector<u32> weights;
    const u64* codes;
    size_t size;

    Kept(const u64* raw, size_t n, u64 limit) : codes(raw), size(n) {
        if (largest(raw, n) >= limit) {
            own_codes.reserve(n);
            std::copy_if(raw, raw + n, std::back_inserter(own_codes), [limit](u64 code) { return code < limit; });
            codes = own_codes.data();
            size = own_codes.size();
        }
        if (size >= 4 * PROBE) combine();
    }

    void combine() {
        std::vector<Slot> slots(size_t{1} << SLOT_BITS);
        std::vector<u64> sums_of;
        std::vector<u32> sums;
        const auto flush = [&](const Slot& slot) {
            if (slot.code == OUTSIDE) return;
            sums_of.push_back(slot.code);
            sums.push_back(slot.held[0] + slot.held[1]);
        };
        size_t misses = 0;
        for (size_t start = 0; start < size; start += PROBE) {
            for (size_t i = start; i < std::min(start + PROBE, size); ++i) {
                Slot& slot = slots[(codes[i] * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS)];
                if (slot.code != codes[i]) {
                    flush(slot);
                    slot = Slot{codes[i]};
                    ++misses;
                }
                ++slot.held[i & 1];
            }
            if (start == 0 && 2 * misses > PROBE) return;
        }
        for (const Slot& slot : slots) flush(slot);
        own_codes.swap(sums_of);
        weights.swap(sums);
        codes = own_codes.data();
        size = own_codes.size();
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
    for (const Group& group : groups) {
        const size_t joint = group.width << group.apart;
        if (sizeof(Weight) == 8 || group.tables.size() == 1 || 2 * joint > n)
            add_singly(codes, weights, n, group);
        else if (!weights && joint <= 65536)
            add_jointly<std::uint16_t>(codes, weights, n, group);
        else
            add_jointly<u32>(codes, weights, n, group);
    }
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
            auto table = nb::cast<Out2<i64>>(level_and_table[1], false);
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
    for (size_t start = 0; start < codes.size(); start += BLOCK) {
        const Kept kept(codes.data() + start, std::min(BLOCK, codes.size() - start), u64{1} << depth);
        add_all<u32>(kept.codes, kept.weights.empty() ? nullptr : kept.weights.data(), kept.size, depth - exact_depth,
                     counters.data(), groups);
    }
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
            hash_cells<BUCKETS_FIRST, true>(cells.data() + start, m, 0, apart, words.data() + 3 * row, width, places.data());
            const i64* counts = table.data() + row * width;
            i64* out = least.data() + start;
            for (size_t i = 0; i < m; ++i)
                out[i] = std::min(out[i], counts[(places[i] >> apart) ^ (places[i] & own)]);
        }
    }
}

// ---------------------------------------------------------------- sampling

using Lanes = u64 __attribute__((vector_size(64)));

// Eight xoshiro256++ generators side by side.
struct Random {
    static constexpr size_t SIZE = 1024;
    std::array<Lanes, 4> state;
    alignas(64) std::array<u64, SIZE> words;
    size_t used = SIZE;

    explicit Random(In<u64> seed) { std::memcpy(state.data(), seed.data(), sizeof state); }

    // At least n fresh words in a row.
    const u64* take(size_t n) {
        if (used + n > SIZE) {
            refill(state.data(), words.data());
            used = 0;
        }
        used += n;
        return words.data() + used - n;
    }

    static void refill(Lanes* state, u64* words);
};

BEST_CPU void Random::refill(Lanes* state, u64* words) {
    Lanes a = state[0], b = state[1], c = state[2], d = state[3];
    for (size_t start = 0; start < SIZE; start += 8) {
        const Lanes sum = a + d, fresh = ((sum << 23) | (sum >> 41)) + a, shifted = b << 17;
        std::memcpy(words + start, &fresh, sizeof fresh);
        c ^= a, d ^= b, b ^= c, a ^= d;
        c ^= shifted;
        d = (d << 45) | (d >> 19);
    }
    state[0] = a, state[1] = b, state[2] = c, state[3] = d;
}

inline double unit(u64 word) {  // the upper 52 bits as a number in [0, 1)
    const u64 bits = (word >> 12) | 0x3FF0000000000000u;
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return number - 1.0;
}

// One side of the points of a cell: numbers from `base` over `span`.
struct Strip {
    double base, span, inverse, jitter;
    u64 start, step;
};

// The i-th number of a strip from a random word. Where points are spread evenly, one word serves all sides: it only
// jitters them, and every side but the first, which is cut into slices, has a random start of its own.
template <bool EVEN>
inline double place(const Strip& s, bool sliced, u64 word, double before, u64 start, size_t i) {
    double share = unit(EVEN && !sliced ? word << 32 : word);
    if (EVEN && sliced) share = (before + static_cast<double>(static_cast<std::int32_t>(i)) + share) * s.inverse;
    if (EVEN && !sliced) {
        share = unit(start + i * s.step) + share * s.jitter;
        share = share < 1.0 ? share : share - 1.0;
    }
    return s.base + share * s.span;
}

// Points of a cell from rank `first` on, and beyond the n asked for to the next multiple of eight.
template <size_t SIDES, bool EVEN>
BEST_CPU void fill_points(const Strip* strips, size_t sides, const u64* __restrict words, size_t first, size_t n,
                          double* __restrict points) {
    const double before = static_cast<double>(first);
    n = (n + 7) & ~size_t{7};
    if (SIDES == 2) {
        const Strip s = strips[0], t = strips[1];
        const u64 start = t.start + first * t.step;
        for (size_t i = 0; i < n; ++i) {
            points[2 * i] = place<EVEN>(s, true, words[i], before, 0, i);
            points[2 * i + 1] = place<EVEN>(t, false, words[EVEN ? i : n + i], before, start, i);
        }
        return;
    }
    for (size_t a = 0; a < sides; ++a) {
        const Strip s = strips[a];
        const u64 start = s.start + first * s.step;
        for (size_t i = 0; i < n; ++i)
            points[i * sides + a] = place<EVEN>(s, a == 0, words[EVEN ? i : a * n + i], before, start, i);
    }
}

void fill_grid(In<u64> codes, In<i64> levels, In<i64> counts, In2<u64> masks, In<double> low, In<double> width,
               In<double> margin, In<u64> steps, bool even, In<u64> words, Out2<double> points) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t d = low.size(), most = (Random::SIZE / d) & ~size_t{7};
    std::vector<Spread> spreads;
    std::vector<double> cuts;
    for (size_t i = 0; i < masks.size(); ++i) {
        spreads.emplace_back(masks.data()[i]);
        cuts.push_back(width(i % d) / static_cast<double>(u64{1} << __builtin_popcountll(masks.data()[i])));
    }
    const auto fill = d == 2 ? (even ? fill_points<2, true> : fill_points<2, false>)
                             : (even ? fill_points<0, true> : fill_points<0, false>);
    std::vector<Strip> strips(d);
    std::vector<double> spill(most * d);
    double* out = points.data();
    size_t room = points.shape(0);
    if (codes.size() != counts.size() || levels.size() != counts.size())
        throw nb::value_error("expected a level and a number of points for each cell");
    for (size_t c = 0; c < counts.size(); ++c) {
        const size_t count = static_cast<size_t>(counts(c)), level = static_cast<size_t>(levels(c));
        if (count > room || level >= masks.shape(0))
            throw nb::value_error("expected levels and numbers of points of at least 0");
        const double inverse = 1.0 / static_cast<double>(count);
        const double jitter = d == 2 ? std::sqrt(inverse) : std::pow(inverse, 1.0 / static_cast<double>(d));
        const u64* starts = random.take(d);
        for (size_t a = 0; a < d; ++a) {
            const size_t at = level * d + a;
            const double base = low(a) + static_cast<double>(spreads[at].gather(codes(c))) * cuts[at] + margin(a);
            strips[a] = {base, cuts[at] - 2.0 * margin(a), inverse, jitter, starts[a], steps(a)};
        }
        for (size_t first = 0, n; first < count; first += n, room -= n, out += n * d) {
            n = std::min(count - first, most);
            const bool fits = n + 7 <= room;
            fill(strips.data(), d, random.take((even ? 1 : d) * ((n + 7) & ~size_t{7})), first, n,
                 fits ? out : spill.data());
            if (!fits) std::copy_n(spill.data(), n * d, out);
        }
    }
}

// A uniformly random order: every row goes to one of 256 piles, then each pile is shuffled in the cache.
template <size_t ROW>
void shuffle_rows(const u64* from, size_t n, size_t row, Random& random, u64* to) {
    const size_t d = ROW ? ROW : row;
    std::vector<unsigned char> piles(n);
    for (size_t i = 0; i < n; i += 8 * Random::SIZE)
        std::memcpy(piles.data() + i, random.take(Random::SIZE), std::min(8 * Random::SIZE, n - i));
    std::array<size_t, 257> starts{};
    for (size_t i = 0; i < n; ++i) ++starts[piles[i] + 1];
    for (size_t pile = 0; pile < 256; ++pile) starts[pile + 1] += starts[pile];
    std::array<size_t, 257> next = starts;
    for (size_t i = 0; i < n; ++i) {
        u64* place = to + d * next[piles[i]]++;
        for (size_t a = 0; a < d; ++a) place[a] = from[i * d + a];
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

void shuffle(In2<u64> records, In<u64> words, Out2<u64> shuffled) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t d = records.shape(1);
    const auto run = d == 1 ? shuffle_rows<1> : d == 2 ? shuffle_rows<2> : shuffle_rows<0>;
    run(records.data(), records.shape(0), d, random, shuffled.data());
}

// Arrays are taken as they are or refused: what is written to a converted copy would be lost.
template <typename... Arguments>
void define(nb::module_& module, const char* name, void (*function)(Arguments...)) {
    module.def(name, function, (static_cast<void>(sizeof(Arguments)), nb::arg().noconvert())...);
}

}  // namespace

NB_MODULE(native, module) {
    define(module, "encode_grid", encode_grid);
    define(module, "encode_integers", encode_integers);
    define(module, "add", add);
    define(module, "add_weighted", add_weighted);
    define(module, "estimate", estimate);
    define(module, "fill_grid", fill_grid);
    define(module, "shuffle", shuffle);
}

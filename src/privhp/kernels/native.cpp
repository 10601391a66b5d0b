// The loops of kernels/plain.py, compiled: the same codes, counts and estimates bit for bit, samples of the same
// distribution.
//
// The interpreter lock is released while a loop runs, and nothing outlives a
// call but the arrays that it was given.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

namespace nb = nanobind;

#define INLINE __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BEST_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BEST_CPU
#endif

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <typename T, size_t SIDES = 1>
using Out = nb::ndarray<T, nb::ndim<SIDES>, nb::c_contig, nb::device::cpu>;
template <typename T, size_t SIDES = 1>
using In = Out<const T, SIDES>;

namespace {

constexpr u64 OUTSIDE = ~u64{0};
constexpr size_t BLOCK = 65535;  // records counted at once: 16 bits hold any of their counts

void expect(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}

// Calls a function with the number of sides of a record as a constant, 0 where it is none of the usual ones.
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
INLINE inline u64 encode_side(double x, const Side& side, bool clamp) {
    if (clamp) x = x < side.low ? side.low : (x > side.high ? side.high : x);
    const bool inside = x >= side.low && x <= side.high;
    double position = ((inside ? x : side.low) - side.low) * side.rate;
    position = position < side.last ? position : side.last;
    u64 v = REACH == 6 ? static_cast<u64>(static_cast<i64>(position))
                       : static_cast<u32>(static_cast<std::int32_t>(position));
#pragma GCC unroll 6
    for (int i = REACH - 1; i >= 0; --i) v = (v & ~side.spread.steps[i]) | ((v << (1 << i)) & side.spread.steps[i]);
    return inside ? v & side.spread.mask : OUTSIDE;
}

template <size_t SIDES, int REACH>
BEST_CPU void encode_points(const double* __restrict points, size_t n, const Side* given, size_t sides, bool clamp,
                            u64* __restrict codes) {
    const size_t d = SIDES ? SIDES : sides;
    std::array<Side, SIDES + 1> own;  // a copy that nothing else can change, so that the loop runs on vectors
    std::copy_n(given, SIDES, own.begin());
    const Side* side = SIDES ? own.data() : given;
    for (size_t i = 0; i < n; ++i) {
        u64 code = 0;
        for (size_t a = 0; a < d; ++a) code |= encode_side<REACH>(points[i * d + a], side[a], clamp);
        codes[i] = code;
    }
}

void encode_grid(In<double, 2> points, In<double> low, In<double> high, In<double> rate, In<i64> bits, In<u64> masks,
                 bool clamp, Out<u64> codes) {
    const size_t d = points.shape(1);
    std::vector<Side> side;
    u64 wide = 0, far = 0;
    for (size_t a = 0; a < d; ++a) {
        side.push_back({low(a), high(a), rate(a), static_cast<double>((u64{1} << bits(a)) - 1), Spread(masks(a))});
        wide |= masks(a) >> 31, far |= side[a].spread.steps[4];
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

// ---------------------------------------------------------------- counting

// Where a row counts a cell, which is hashed by its ancestor `apart` levels up: in the ancestor's bucket moved by its
// own place among the descendants, or in a joint table with a line for each such place.
template <bool JOINT>
struct Bucket {
    const u64* words;  // of the hash function
    u64 width;
    int shift, apart;  // `shift` is from a code to the cell

    INLINE u64 operator()(u64 code) const {
        const u64 cell = code >> shift, own = cell & ((u64{1} << apart) - 1), hashed = cell >> apart;
        const u64 mixed = (hashed >> 32) * words[0] + (hashed & 0xFFFFFFFFu) * words[1] + words[2];
        const u64 bucket = ((mixed >> 32) * width) >> 32;
        return JOINT ? own * width + bucket : own ^ bucket;
    }
};

// Adds one, or a weight, to the counter at the place of each code. Places are found some way ahead of the counting, a
// few in turn with a few counts: the one keeps the arithmetic busy, the other the memory.
template <bool WEIGHTED, typename Place, typename Count>
BEST_CPU void count_each(Place place, const u64* __restrict codes, const i64* __restrict weights, size_t n,
                         Count* __restrict counts) {
    constexpr size_t FEW = 16, AHEAD = 128;
    std::array<u32, AHEAD> places;
    const auto find = [&](size_t i) INLINE {
        for (size_t k = 0; k < FEW; ++k) places[i % AHEAD + k] = static_cast<u32>(place(codes[i + k]));
    };
    const size_t whole = n - n % FEW;
    for (size_t i = 0; i < std::min(AHEAD, whole); i += FEW) find(i);
    for (size_t i = 0; i < whole; i += FEW) {
        const u32* at = &places[i % AHEAD];
#pragma GCC unroll 16
        for (size_t k = 0; k < FEW; ++k) counts[at[k]] += static_cast<Count>(WEIGHTED ? weights[i + k] : 1);
        if (i + AHEAD < whole) find(i + AHEAD);
    }
    for (size_t i = whole; i < n; ++i) counts[place(codes[i])] += static_cast<Count>(WEIGHTED ? weights[i] : 1);
}

// Counts codes in the slots of a partition that starts from a level; a mark in place of a count says where the parts of a
// cell are. Many codes go down together, those that have arrived not moving, so that no branch is guessed for each.
BEST_CPU void count_in_slots(const u64* codes, const i64* weights, size_t n, int depth, int level, i64* slots) {
    constexpr i64 CUT = -(i64{1} << 62);
    constexpr size_t MANY = 64;
    std::array<u64, MANY> path, place;  // the highest bit of a path is the next step
    std::array<i64, MANY> marks;
    for (size_t start = 0, many; start < n; start += many) {
        many = std::min(MANY, n - start);
        for (size_t k = 0; k < many; ++k) {
            path[k] = codes[start + k] << 1 << (63 - depth);
            place[k] = path[k] >> 1 >> (63 - level);
            path[k] <<= level;
        }
        for (i64 least;;) {
            for (size_t k = 0; k < many; ++k) marks[k] = slots[place[k]];
            least = 0;
            for (size_t k = 0; k < many; ++k) least = std::min(least, marks[k]);
            if (least >= CUT) break;
            for (size_t k = 0; k < many; ++k) {
                const bool cut = marks[k] < CUT;
                const u64 fields = static_cast<u64>(marks[k]) ^ (u64{1} << 63), steps = cut ? fields >> 8 & 0xFF : 0;
                place[k] = (cut ? fields >> 16 : place[k]) + (path[k] >> 1 >> (63 - steps));
                path[k] <<= steps;
            }
        }
        for (size_t k = 0; k < many; ++k) slots[place[k]] += weights ? weights[start + k] : 1;
    }
}

// Adds one line of a joint table to another, with its buckets moved by exclusive or.
template <typename Count>
INLINE inline void add_moved(Count* __restrict to, const Count* __restrict from, size_t width, size_t by) {
    const auto add = [&](size_t move) INLINE {
        for (size_t start = 0; start < width; start += 2 * move)
            for (size_t i = start; i < start + move; ++i) {
                to[i] = static_cast<Count>(to[i] + from[i + move]);
                to[i + move] = static_cast<Count>(to[i + move] + from[i]);
            }
    };
    by == 1 ? add(1) : by == 2 ? add(2) : by == 4 ? add(4) : by == 8 ? add(8) : add(by);  // known ones are unrolled
}

using Tables = std::vector<std::tuple<int, Out<i64, 2>>>;  // level and table of each, coarsest first
using Group = std::tuple<int, In<u64, 2>, Tables>;         // the level whose cells are hashed, three words a row

// Adds a joint table to the tables of its levels, the deepest first: lines moved and added, one bit of what they stand
// for after the other, are the table of a level; lines added two by two are the joint table of the level above.
template <typename Count>
BEST_CPU void add_joint(Count* joint, Count* lines, size_t width, int apart, int base, size_t row,
                        const Tables& tables) {
    for (size_t t = tables.size(); t-- > 0;) {
        for (; base + apart > std::get<0>(tables[t]); --apart)
            for (size_t own = 0; own < size_t{1} << (apart - 1); ++own) {
                Count *sum = joint + own * width, *one = sum + own * width, *other = one + width;
#pragma GCC ivdep
                for (size_t i = 0; i < width; ++i) sum[i] = static_cast<Count>(one[i] + other[i]);
            }
        std::copy_n(joint, width << apart, lines);
        for (size_t move = 1; move < size_t{1} << apart; move *= 2)
            for (size_t own = 0; own < size_t{1} << apart; own += 2 * move)
                add_moved(lines + own * width, lines + (own + move) * width, width, move);
        i64* counts = std::get<1>(tables[t]).data() + row * width;
        for (size_t i = 0; i < width; ++i) counts[i] += lines[i];
    }
}

BEST_CPU u64 largest(const u64* codes, size_t n) {
    u64 found = 0;
    for (size_t i = 0; i < n; ++i) found = std::max(found, codes[i]);
    return found;
}

// The codes of a block that have a cell, with their weights if they have any. Where few codes make up most of the
// block, equal ones are added up in a small table.
struct Kept {
    static constexpr int SLOT_BITS = 12;
    static constexpr size_t PROBE = 2048;
    struct Slot {
        u64 code = OUTSIDE;
        u16 held[4] = {0, 0, 0, 0};  // in turns, so that a run of one code does not wait for itself
    };
    const u64* codes;
    const i64* weights;
    size_t size;
    std::vector<u64> own_codes;
    std::vector<i64> own_weights;

    Kept(const u64* raw, const i64* raw_weights, size_t n, u64 limit) : codes(raw), weights(raw_weights), size(n) {
        if (largest(raw, n) >= limit) {
            for (size_t i = 0; i < n; ++i) {
                if (raw[i] >= limit) continue;
                own_codes.push_back(raw[i]);
                if (weights) own_weights.push_back(weights[i]);
            }
            use_own();
        }
        if (!weights && size >= 4 * PROBE) combine();
    }

    void use_own() {
        codes = own_codes.data();
        weights = own_weights.empty() ? nullptr : own_weights.data();
        size = own_codes.size();
    }

    void combine() {
        std::vector<Slot> slots(size_t{1} << SLOT_BITS);
        std::vector<u64> sums_of;
        std::vector<i64> sums;
        const auto flush = [&](const Slot& slot) {
            if (slot.code == OUTSIDE) return;
            sums_of.push_back(slot.code);
            sums.push_back(std::accumulate(slot.held, slot.held + 4, i64{0}));
        };
        const u64* const given = codes;
        for (size_t i = 0, misses = 0; i < size;) {
            for (const size_t end = std::min(i + PROBE, size); i < end; ++i) {
                Slot& slot = slots[(given[i] * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS)];
                if (slot.code != given[i]) {
                    flush(slot);
                    slot = Slot{given[i]};
                    ++misses;
                }
                ++slot.held[i % 4];
            }
            if (2 * misses > i) return;  // too many are different
        }
        std::for_each(slots.begin(), slots.end(), flush);
        own_codes.swap(sums_of);
        own_weights.swap(sums);
        use_own();
    }

    template <typename Place, typename Count>
    void count(Place place, Count* counts) const {
        const auto run = weights ? count_each<true, Place, Count> : count_each<false, Place, Count>;
        run(place, codes, weights, size, counts);
    }
};

// Counts codes in the tables of a group: in one joint table a row, where that is small beside their number.
template <typename Count>
void add_group(const Kept& kept, int depth, const Group& group) {
    const auto& [base, words, tables] = group;
    const int deepest = std::get<0>(tables.back()), apart = deepest - base;
    const size_t width = std::get<1>(tables.back()).shape(1), size = width << apart;
    const bool jointly = tables.size() > 1 && 2 * size <= kept.size;
    std::vector<Count> joint, lines(jointly ? size : 0);
    for (size_t row = 0; row < words.shape(0); ++row) {
        const u64* hash = &words(row, 0);
        if (jointly) {
            joint.assign(size, 0);
            kept.count(Bucket<true>{hash, width, depth - deepest, apart}, joint.data());
            add_joint(joint.data(), lines.data(), width, apart, base, row, tables);
            continue;
        }
        for (const auto& [level, table] : tables)
            kept.count(Bucket<false>{hash, width, depth - level, level - base}, table.data() + row * width);
    }
}

void add(In<u64> codes, std::optional<In<i64>> weights, int depth, int exact_depth, Out<i64> counters,
         std::vector<Group> groups, int level, std::optional<Out<i64>> slots) {
    expect(!weights || weights->size() == codes.size(), "expected a weight for each code");
    nb::gil_scoped_release unlocked;
    for (size_t start = 0; start < codes.size(); start += BLOCK) {
        const Kept kept(codes.data() + start, weights ? weights->data() + start : nullptr,
                        std::min(BLOCK, codes.size() - start), u64{1} << depth);
        const int shift = depth - exact_depth;
        kept.count([shift](u64 code) INLINE { return code >> shift; }, counters.data());
        for (const Group& group : groups) (kept.weights ? add_group<i64> : add_group<u16>)(kept, depth, group);
        if (slots) count_in_slots(kept.codes, kept.weights, kept.size, depth, level, slots->data());
    }
}

// ---------------------------------------------------------------- sampling

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

    const u64* take(size_t n) {  // n fresh words in a row, at most SIZE
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

// One side of a cell, and how points are spread over it evenly: by steps from a start, in 2**-64 of it, with some jitter.
struct Strip {
    double base, span, jitter;
    u64 start, step;
};

// Points of a cell from rank `first` on, and beyond the n asked for to the next multiple of eight. Where they are spread
// evenly, one random word serves all sides of a point.
template <size_t SIDES, bool EVEN>
BEST_CPU void fill_points(const Strip* __restrict strips, size_t sides, const u64* __restrict words, size_t first,
                          size_t n, double* __restrict points) {
    const size_t d = SIDES ? SIDES : sides;
    n = (n + 7) & ~size_t{7};
    const auto put = [&](size_t i, size_t a) INLINE {
        const Strip& s = strips[a];
        double share = unit(EVEN ? words[i] << (a ? 32 : 0) : words[a * n + i]);
        if (EVEN) share = unit(s.start + (first + i) * s.step) + share * s.jitter;
        points[i * d + a] = s.base + (EVEN && share >= 1.0 ? share - 1.0 : share) * s.span;
    };
    if (SIDES)
        for (size_t i = 0; i < n; ++i)
            for (size_t a = 0; a < d; ++a) put(i, a);
    else
        for (size_t a = 0; a < d; ++a)
            for (size_t i = 0; i < n; ++i) put(i, a);
}

// Where points may lie in each cell: where its sides begin, and then their lengths.
std::vector<double> cells_of(In<u64> codes, In<i64> levels, In<u64, 2> masks, In<double> low, In<double> width,
                             In<double> margin) {
    const size_t d = low.size();
    expect(codes.size() == levels.size(), "expected a level for each cell");
    const std::vector<Spread> spreads(masks.data(), masks.data() + masks.size());
    std::vector<double> cells(2 * d * codes.size());
    for (size_t c = 0; c < codes.size(); ++c) {
        const size_t level = static_cast<size_t>(levels(c));
        expect(level < masks.shape(0), "expected levels of the grid");
        for (size_t a = 0; a < d; ++a) {
            const Spread& spread = spreads[level * d + a];
            const double cut = width(a) / static_cast<double>(u64{1} << __builtin_popcountll(spread.mask));
            cells[2 * d * c + a] = low(a) + static_cast<double>(spread.gather(codes(c))) * cut + margin(a);
            cells[2 * d * c + d + a] = cut - 2.0 * margin(a);
        }
    }
    return cells;
}

void fill_grid(In<u64> codes, In<i64> levels, In<i64> counts, In<u64, 2> masks, In<double> low, In<double> width,
               In<double> margin, In<u64> steps, bool even, In<u64> words, Out<double, 2> points) {
    nb::gil_scoped_release unlocked;
    const auto cells = cells_of(codes, levels, masks, low, width, margin);
    expect(codes.size() == counts.size(), "expected a number of points for each cell");
    Random random(words);
    const size_t d = low.size(), most = (Random::SIZE / d) & ~size_t{7};
    decltype(&fill_points<0, true>) fill;
    with_sides(d, [&](auto sides) { fill = even ? fill_points<sides, true> : fill_points<sides, false>; });
    std::vector<Strip> strips(d);
    std::vector<double> spill(most * d);
    double* out = points.data();
    size_t room = points.shape(0);
    for (size_t c = 0; c < counts.size(); ++c) {
        const size_t count = static_cast<size_t>(counts(c));
        expect(count <= room, "expected numbers of points of at least 0");
        if (count == 0) continue;
        const double inverse = 1.0 / static_cast<double>(count), *cell = &cells[2 * d * c];
        const double jitter = d == 2 ? std::sqrt(inverse) : std::pow(inverse, 1.0 / static_cast<double>(d));
        const u64* starts = random.take(d);
        for (size_t a = 0; a < d; ++a) strips[a] = {cell[a], cell[d + a], jitter, starts[a], steps(a)};
        strips[0] = {cell[0], cell[d], inverse, 0, ~u64{0} / count};  // in slices, one for each point
        for (size_t first = 0, n; first < count; first += n, room -= n, out += n * d) {
            n = std::min(count - first, most);
            const bool fits = n + 7 <= room;
            fill(strips.data(), d, random.take((even ? 1 : d) * ((n + 7) & ~size_t{7})), first, n,
                 fits ? out : spill.data());
            if (!fits) std::copy_n(spill.data(), n * d, out);
        }
    }
}

// Uniform points, each in the cell at its place.
template <size_t SIDES>
void scatter_points(const double* cells, const i64* places, size_t n, size_t sides, Random& random, double* points) {
    const size_t d = SIDES ? SIDES : sides, most = Random::SIZE / d;
    for (size_t start = 0; start < n; start += most) {
        const u64* words = random.take(most * d);
        for (size_t i = start; i < std::min(start + most, n); ++i) {
            const double* cell = cells + 2 * d * static_cast<size_t>(places[i]);
            for (size_t a = 0; a < d; ++a) points[i * d + a] = cell[a] + unit(*words++) * cell[d + a];
        }
    }
}

void scatter_grid(In<u64> codes, In<i64> levels, In<i64> places, In<u64, 2> masks, In<double> low, In<double> width,
                  In<double> margin, In<u64> words, Out<double, 2> points) {
    nb::gil_scoped_release unlocked;
    const auto cells = cells_of(codes, levels, masks, low, width, margin);
    const size_t n = places.size(), d = low.size();
    expect(points.shape(0) == n && (n == 0 || largest(reinterpret_cast<const u64*>(places.data()), n) < codes.size()),
           "expected a place among the cells for each point");
    Random random(words);
    with_sides(d, [&](auto side) { scatter_points<side>(cells.data(), places.data(), n, d, random, points.data()); });
}

// Draws from an alias table: a place at random, or the other one that shares it.
void draw(In<u64> thresholds, In<i64> others, In<u64> words, Out<i64> places) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t size = thresholds.size(), n = places.size();
    const u64* chance = thresholds.data();
    const i64* other = others.data();
    i64* drawn = places.data();
    for (size_t start = 0; start < n; start += Random::SIZE) {
        const u64* fresh = random.take(Random::SIZE);
        for (size_t i = start; i < std::min(start + Random::SIZE, n); ++i) {
            const auto wide = static_cast<unsigned __int128>(*fresh++) * size;
            const i64 place = static_cast<i64>(wide >> 64), stays = -(static_cast<u64>(wide) < chance[place]);
            drawn[i] = (place & stays) | (other[place] & ~stays);  // a branch would be guessed wrong too often
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
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
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

void shuffle(In<u64, 2> records, In<u64> words, Out<u64, 2> shuffled) {
    nb::gil_scoped_release unlocked;
    Random random(words);
    const size_t n = records.shape(0), d = records.shape(1);
    with_sides(d, [&](auto row) { shuffle_rows<row>(records.data(), n, d, random, shuffled.data()); });
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
    define(module, "fill_grid", fill_grid);
    define(module, "scatter_grid", scatter_grid);
    define(module, "draw", draw);
    define(module, "shuffle", shuffle);
}

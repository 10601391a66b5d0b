// Codes into counters, sketches and growing partitions; and what a sketch holds of a cell.

#include "native.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

namespace {

constexpr size_t BLOCK = 65535;  // records counted at once: 16 bits hold any of their counts

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

// ---------------------------------------------------------------- looking up

// Bucket of each cell of one level in every row of its sketch, one row after the other.
BEST_CPU void buckets(In<u64, 2> words, In<u64> cells, int apart, u64 width, Out<i64, 2> places) {
    const size_t n = cells.size();
    expect(places.shape(0) == words.shape(0) && places.shape(1) == n, "expected a place for each cell and row");
    nb::gil_scoped_release unlocked;
    const u64* cell = cells.data();
    for (size_t row = 0; row < words.shape(0); ++row) {
        const std::array<u64, 3> own{words(row, 0), words(row, 1), words(row, 2)};
        const Bucket<false> bucket{own.data(), width, 0, apart};
        i64* __restrict place = places.data() + row * n;
        for (size_t i = 0; i < n; ++i) place[i] = static_cast<i64>(bucket(cell[i]));
    }
}

// The least of the buckets of each cell.
BEST_CPU void estimate(In<i64, 2> table, In<u64, 2> words, In<u64> cells, int apart, Out<i64> least) {
    expect(table.shape(0) == words.shape(0) && least.size() == cells.size(), "expected a hash for each row");
    nb::gil_scoped_release unlocked;
    const size_t n = cells.size(), width = table.shape(1);
    const u64* cell = cells.data();
    i64* __restrict found = least.data();
    std::fill_n(found, n, std::numeric_limits<i64>::max());
    for (size_t row = 0; row < words.shape(0); ++row) {
        const std::array<u64, 3> own{words(row, 0), words(row, 1), words(row, 2)};
        const Bucket<false> bucket{own.data(), width, 0, apart};
        const i64* counts = table.data() + row * width;
        for (size_t i = 0; i < n; ++i) found[i] = std::min(found[i], counts[bucket(cell[i])]);
    }
}

}  // namespace

void define_counting(nb::module_& module) {
    define(module, "add", add);
    define(module, "buckets", buckets);
    define(module, "estimate", estimate);
}

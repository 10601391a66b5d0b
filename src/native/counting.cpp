// Counting codes in counters, sketches and partitions, and reading sketches. Native version of
// kernels/counting.py, which derives the joint tables.

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

constexpr size_t BLOCK = 65535;  // records per pass, so that any of their counts fits 16 bits

// Bucket of a cell in a row of a sketch: the bucket of its ancestor `levels_below` levels up, xor its suffix below that
// ancestor; or, JOINT, its index in a joint table with a line for each suffix.
template <bool JOINT>
struct Bucket {
    const u64* words;  // of the hash function
    u64 width;
    int shift, levels_below;  // `shift` levels from a code up to the cell

    INLINE u64 operator()(u64 code) const {
        const u64 cell = code >> shift, suffix = cell & ((u64{1} << levels_below) - 1), hashed = cell >> levels_below;
        const u64 mixed = (hashed >> 32) * words[0] + (hashed & 0xFFFFFFFFu) * words[1] + words[2];
        const u64 bucket = ((mixed >> 32) * width) >> 32;
        return JOINT ? suffix * width + bucket : suffix ^ bucket;
    }
};

// Adds one, or a weight, to the counter at the index of each code. Indices are computed ahead of the increments, a few of
// each in turn, so that arithmetic and memory accesses overlap.
template <bool WEIGHTED, typename Index, typename Count>
BEST_CPU void count_each(Index index_of, const u64* __restrict codes, const i64* __restrict weights, size_t n,
                         Count* __restrict counts) {
    constexpr size_t FEW = 16, AHEAD = 128;
    std::array<u32, AHEAD> indices;
    const auto find = [&](size_t i) INLINE {
        for (size_t k = 0; k < FEW; ++k) indices[i % AHEAD + k] = static_cast<u32>(index_of(codes[i + k]));
    };
    const size_t whole = n - n % FEW;
    for (size_t i = 0; i < std::min(AHEAD, whole); i += FEW) find(i);
    for (size_t i = 0; i < whole; i += FEW) {
        const u32* at = &indices[i % AHEAD];
#pragma GCC unroll 16
        for (size_t k = 0; k < FEW; ++k) counts[at[k]] += static_cast<Count>(WEIGHTED ? weights[i + k] : 1);
        if (i + AHEAD < whole) find(i + AHEAD);
    }
    for (size_t i = whole; i < n; ++i) counts[index_of(codes[i])] += static_cast<Count>(WEIGHTED ? weights[i] : 1);
}

// Root level, nodes and counters of the leaves of a partition; kernels/partition_nodes.py defines a node.
using Leaves = std::tuple<int, In<i32>, Out<i64>>;

// Counts codes in the leaves of a partition. Many codes descend together, and codes at a leaf stay there, so that there is
// no branch per code.
BEST_CPU void count_in_leaves(const u64* codes, const i64* weights, size_t n, int depth, const Leaves& leaves) {
    constexpr int LEVEL_BITS = 3, INDEX_BITS = LEVEL_BITS + 1;
    constexpr u32 FAMILY = 1u << LEVEL_BITS, STEPS = FAMILY - 1;
    constexpr size_t MANY = 64;
    const auto& [level, partition, counters] = leaves;
    const i32* nodes = partition.data();
    i64* counts = counters.data();
    std::array<u64, MANY> path;  // the highest bit is the next step
    std::array<u32, MANY> index, node, next;
    for (size_t start = 0, many; start < n; start += many) {
        many = std::min(MANY, n - start);
        for (size_t k = 0; k < many; ++k) {
            path[k] = codes[start + k] << 1 << (63 - depth);
            index[k] = static_cast<u32>(path[k] >> 1 >> (63 - level));
            path[k] <<= level;
        }
        for (;;) {  // short loops, which compilers vectorise
            u32 common = ~0u;
            for (size_t k = 0; k < many; ++k) node[k] = static_cast<u32>(nodes[index[k]]);
            for (size_t k = 0; k < many; ++k) common &= node[k];
            for (size_t k = 0; k < many; ++k) {
                next[k] = (node[k] >> INDEX_BITS) + static_cast<u32>(path[k] >> 1 >> (63 - (node[k] & STEPS)));
            }
            if (common & FAMILY) break;
            for (size_t k = 0; k < many; ++k) {
                const bool family = node[k] & FAMILY;
                index[k] = family ? index[k] : next[k];
                path[k] <<= family ? 0 : node[k] & STEPS;
            }
        }
        for (size_t k = 0; k < many; ++k) counts[next[k]] += weights ? weights[start + k] : 1;
    }
}

// Adds one line of a joint table to another, with its buckets permuted by xor.
template <typename Count>
INLINE inline void add_permuted(Count* __restrict to, const Count* __restrict from, size_t width, size_t bit) {
    const auto add = [&](size_t step) INLINE {
        for (size_t start = 0; start < width; start += 2 * step)
            for (size_t i = start; i < start + step; ++i) {
                to[i] = static_cast<Count>(to[i] + from[i + step]);
                to[i + step] = static_cast<Count>(to[i + step] + from[i]);
            }
    };
    bit == 1 ? add(1) : bit == 2 ? add(2) : bit == 4 ? add(4) : bit == 8 ? add(8) : add(bit);  // small constants are unrolled
}

using Tables = std::vector<std::tuple<int, Out<i64, 2>>>;  // level and table of each sketch, coarsest first
using Group = std::tuple<int, In<u64, 2>, Tables>;         // level of the hashed cells, three words per row

// Adds the sums over p of J_k[x xor p, p] to the rows of all levels, the deepest first. The sum is over one bit of p at a
// time: the line of p with that bit set is added to the line without it, its buckets permuted by the bit. Adding pairs of
// lines gives the joint table of the level above.
template <typename Count>
BEST_CPU void add_joint(Count* joint, Count* lines, size_t width, int levels_below, int base, size_t row,
                        const Tables& tables) {
    for (size_t t = tables.size(); t-- > 0;) {
        for (; base + levels_below > std::get<0>(tables[t]); --levels_below)
            for (size_t suffix = 0; suffix < size_t{1} << (levels_below - 1); ++suffix) {
                Count *sum = joint + suffix * width, *one = sum + suffix * width, *other = one + width;
#pragma GCC ivdep
                for (size_t i = 0; i < width; ++i) sum[i] = static_cast<Count>(one[i] + other[i]);
            }
        std::copy_n(joint, width << levels_below, lines);
        for (size_t bit = 1; bit < size_t{1} << levels_below; bit *= 2)
            for (size_t suffix = 0; suffix < size_t{1} << levels_below; suffix += 2 * bit)
                add_permuted(lines + suffix * width, lines + (suffix + bit) * width, width, bit);
        i64* counts = std::get<1>(tables[t]).data() + row * width;
        for (size_t i = 0; i < width; ++i) counts[i] += lines[i];
    }
}

// The codes of a block that have a cell, with their weights if any. Where few distinct codes make up most of the block,
// equal codes are combined in a small table.
struct Kept {
    static constexpr int SLOT_BITS = 12;
    static constexpr size_t PROBE = 2048;
    struct Slot {
        u64 code = OUTSIDE;
        u16 held[4] = {0, 0, 0, 0};  // used in turn, so that increments for a run of one code are independent
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
            if (2 * misses > i) return;  // too many distinct codes
        }
        std::for_each(slots.begin(), slots.end(), flush);
        own_codes.swap(sums_of);
        own_weights.swap(sums);
        use_own();
    }

    template <typename Index, typename Count>
    void count(Index index_of, Count* counts) const {
        const auto run = weights ? count_each<true, Index, Count> : count_each<false, Index, Count>;
        run(index_of, codes, weights, size, counts);
    }
};

// Counts codes in the tables of a group, by one joint table per row where that table is smaller than the block.
template <typename Count>
void add_group(const Kept& kept, int depth, const Group& group) {
    const auto& [base, words, tables] = group;
    const int deepest = std::get<0>(tables.back()), levels_below = deepest - base;
    const size_t width = std::get<1>(tables.back()).shape(1), size = width << levels_below;
    const bool jointly = tables.size() > 1 && 2 * size <= kept.size;
    std::vector<Count> joint, lines(jointly ? size : 0);
    for (size_t row = 0; row < words.shape(0); ++row) {
        const u64* hash = &words(row, 0);
        if (jointly) {
            joint.assign(size, 0);
            kept.count(Bucket<true>{hash, width, depth - deepest, levels_below}, joint.data());
            add_joint(joint.data(), lines.data(), width, levels_below, base, row, tables);
            continue;
        }
        for (const auto& [level, table] : tables)
            kept.count(Bucket<false>{hash, width, depth - level, level - base}, table.data() + row * width);
    }
}

void count_codes(In<u64> codes, std::optional<In<i64>> weights, int depth, int exact_depth,
                 std::optional<Out<i64>> counters, std::vector<Group> groups, std::optional<Leaves> leaves) {
    expect(!weights || weights->size() == codes.size(), "expected a weight for each code");
    nb::gil_scoped_release unlocked;
    for (size_t start = 0; start < codes.size(); start += BLOCK) {
        const Kept kept(codes.data() + start, weights ? weights->data() + start : nullptr,
                        std::min(BLOCK, codes.size() - start), u64{1} << depth);
        const int shift = depth - exact_depth;
        if (counters) kept.count([shift](u64 code) INLINE { return code >> shift; }, counters->data());
        for (const Group& group : groups) (kept.weights ? add_group<i64> : add_group<u16>)(kept, depth, group);
        if (leaves) count_in_leaves(kept.codes, kept.weights, kept.size, depth, *leaves);
    }
}

// Bucket of each cell of one level in every row of its sketch.
BEST_CPU void find_buckets(In<u64, 2> words, In<u64> cells, int levels_below, u64 width, Out<i64, 2> buckets) {
    const size_t n = cells.size();
    expect(buckets.shape(0) == words.shape(0) && buckets.shape(1) == n, "expected a bucket for each cell and row");
    nb::gil_scoped_release unlocked;
    const u64* cell = cells.data();
    for (size_t row = 0; row < words.shape(0); ++row) {
        const std::array<u64, 3> own{words(row, 0), words(row, 1), words(row, 2)};
        const Bucket<false> bucket{own.data(), width, 0, levels_below};
        i64* __restrict found = buckets.data() + row * n;
        for (size_t i = 0; i < n; ++i) found[i] = static_cast<i64>(bucket(cell[i]));
    }
}

// Count-Min estimate of each cell: the least of its buckets.
BEST_CPU void estimate_counts(In<i64, 2> table, In<u64, 2> words, In<u64> cells, int levels_below, Out<i64> least) {
    expect(table.shape(0) == words.shape(0) && least.size() == cells.size(), "expected hash words for each row of the table");
    nb::gil_scoped_release unlocked;
    const size_t n = cells.size(), width = table.shape(1);
    const u64* cell = cells.data();
    i64* __restrict found = least.data();
    std::fill_n(found, n, std::numeric_limits<i64>::max());
    for (size_t row = 0; row < words.shape(0); ++row) {
        const std::array<u64, 3> own{words(row, 0), words(row, 1), words(row, 2)};
        const Bucket<false> bucket{own.data(), width, 0, levels_below};
        const i64* counts = table.data() + row * width;
        for (size_t i = 0; i < n; ++i) found[i] = std::min(found[i], counts[bucket(cell[i])]);
    }
}

}  // namespace

void define_counting(nb::module_& module) {
    define(module, "count_codes", count_codes);
    define(module, "find_buckets", find_buckets);
    define(module, "estimate_counts", estimate_counts);
}

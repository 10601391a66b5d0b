// Look-up of declared texts in arrays of texts by a perfect hash. Native version of kernels/text_lookup.py.

#include "native.hpp"

#include <cstring>

namespace {

typedef u64 Two __attribute__((vector_size(16)));  // a word of four characters

INLINE inline u64 any(u32 word) { return word; }
INLINE inline u64 any(Two word) { return word[0] | word[1]; }

template <typename Word>
INLINE inline Word read(const u32* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// Whether a text equals a declared one, padded with zeros. The comparison is by words of several characters; the last
// word may overlap the one before, so neither the declared text nor the padding may be shorter than a word.
template <typename Word>
INLINE inline bool equal(const u32* text, size_t width, const u32* declared, size_t own) {
    constexpr size_t STEP = sizeof(Word) / sizeof(u32);
    Word differ = read<Word>(text + own - STEP) ^ read<Word>(declared + own - STEP);
    for (size_t at = 0; at + STEP < own; at += STEP) differ |= read<Word>(text + at) ^ read<Word>(declared + at);
    if (own < width) {
        differ |= read<Word>(text + width - STEP);
        for (size_t at = own; at + STEP < width; at += STEP) differ |= read<Word>(text + at);
    }
    return !any(differ);
}

struct TextTable {
    const u32* declared;
    size_t declared_width;
    const i64* column;
    const u64* factor;
    size_t columns;
    int bits;
    const i64* table;
    const u64* value;
    size_t size;
    u64 fallback;

    // COLUMNS is the number of hashed columns, or 0 for more than four.
    template <size_t COLUMNS, typename Word>
    void look_up(const u32* text, size_t n, size_t width, u64* found) const {
        for (size_t i = 0; i < n; ++i, text += width) {
            u64 mixed = 0;
            for (size_t k = 0; k < (COLUMNS ? COLUMNS : columns); ++k) mixed += text[column[k]] * factor[k];
            const size_t candidate = static_cast<size_t>(table[mixed >> (64 - bits)]);
            const bool same =
                candidate < size && equal<Word>(text, width, declared + candidate * declared_width, declared_width);
            found[i] = same ? value[candidate] : fallback;
        }
    }
};

void look_up_texts(In<u32, 2> texts, In<u32, 2> declared, In<i64> columns, In<u64> factors, int bits, In<i64> table,
                In<u64> values, u64 fallback, Out<u64> found) {
    const size_t n = texts.shape(0), width = texts.shape(1), declared_width = declared.shape(1),
                 hashed = columns.size();
    expect(bits > 0 && bits < 64 && table.size() == size_t{1} << bits && factors.size() == hashed &&
               declared_width && declared_width <= width && values.size() == declared.shape(0) && found.size() == n,
           "expected a table of the declared texts and a value for each");
    for (size_t k = 0; k < hashed; ++k) expect(static_cast<u64>(columns(k)) < width, "a hashed column lies beyond the texts");
    const TextTable known{declared.data(), declared_width, columns.data(), factors.data(), hashed,
                          bits, table.data(), values.data(), values.size(), fallback};
    const bool wide = declared_width >= 4 && (declared_width == width || declared_width + 4 <= width);
    nb::gil_scoped_release unlocked;
    with_sides(hashed, [&](auto constant) {
        const auto run = wide ? &TextTable::look_up<constant, Two> : &TextTable::look_up<constant, u32>;
        (known.*run)(texts.data(), n, width, found.data());
    });
}

}  // namespace

void define_text_lookup(nb::module_& module) { define(module, "look_up_texts", look_up_texts); }

// Scanner of CSV: the bounds of records, for privhp/io/sources/csv_records.py, and the values of plainly written fields,
// for privhp/io/sources/csv_scanner.py.
//
// These are the only kernels that see records. privhp/io/sources/csv_fields.py defines the values. The scanner reads a
// field to the same value or marks its record as odd, and csv_fields.py then reads that record. No state is kept from
// one record to the next, so that one record cannot affect another.

#include "csv_values.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

enum Place : u8 { FIELD_START, UNQUOTED, QUOTED, AFTER_QUOTE };

const char* find(const char* at, const char* end, char wanted) {
    return static_cast<const char*>(std::memchr(at, wanted, end - at));
}

constexpr u64 EACH_BYTE = 0x0101010101010101;

// The highest bit of each of eight bytes that equals another byte.
u64 matches(const char* at, char wanted) {
    u64 bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    bytes ^= EACH_BYTE * static_cast<u8>(wanted);
    return ~(((bytes & EACH_BYTE * 0x7f) + EACH_BYTE * 0x7f) | bytes) & EACH_BYTE * 0x80;
}

// Number of delimiters in a part of a text that begins at `text`. The last 16 bytes are counted without a branch, since
// the lengths of records are hard to predict. A delimiter is a char, or a constant, for which the loops are compiled.
template <typename Delimiter>
INLINE inline i64 count_delimiters(const char* text, const char* at, const char* end, Delimiter delimiter) {
    if (end - text < 16) return std::count(at, end, static_cast<char>(delimiter));
    i64 count = 0;
    for (; end - at > 16; at += 8) count += (matches(at, delimiter) >> 7) * EACH_BYTE >> 56;
    const i64 size = end - at, before = 4 * (8 - std::min<i64>(size, 8)), far = 4 * (8 - std::max<i64>(size - 8, 0));
    const u64 last = matches(end - 8, delimiter) >> before >> before;
    const u64 other = matches(end - 16, delimiter) >> far >> far;
    return count + (((last >> 7) + (other >> 7)) * EACH_BYTE >> 56);
}

// Splits a record without quotes into its fields and keeps the first `wanted`; the number of fields. If `all` is not set,
// no field behind the wanted ones is looked at.
template <typename Delimiter>
INLINE inline i64 split_plain(const char* text, const char* at, const char* end, Delimiter delimiter, Field* fields,
                              i64 wanted, bool all) {
    for (i64 found = 0; found < wanted;) {
        const char* next = find(at, end, static_cast<char>(delimiter));  // not std::find
        fields[found++] = {at, next ? next : end};
        if (!next) return found;
        at = next + 1;
    }
    return wanted + (all ? 1 + count_delimiters(text, at, end, delimiter) : 0);
}

// The same for a record with quotes. A field whose first byte is a quote ends at the next quote that is not doubled; the
// number is 0 if that is neither before a delimiter nor at the end of the record.
template <typename Delimiter>
i64 split_quoted(const char* at, const char* end, Delimiter delimiter, Field* fields, i64 wanted, bool all) {
    if (end > at && end[-1] == '\r') --end;
    for (i64 found = 0;; ++at) {
        Field field{at, end};
        if (at < end && *at == '"') {
            const char* close = find(at + 1, end, '"');
            for (; close && close + 1 < end && close[1] == '"'; close = find(close + 2, end, '"')) field.escaped = true;
            if (!close || (close + 1 < end && close[1] != delimiter)) return 0;
            field.begin = at + 1, field.end = close;
            at = close + 1;
        } else {
            const char* next = find(at, end, static_cast<char>(delimiter));
            at = field.end = next ? next : end;
        }
        if (found < wanted) fields[found] = field;
        ++found;
        if (at == end || (found == wanted && !all)) return found;
    }
}

// Distinct texts of a block.
struct Distinct {
    std::vector<u64> texts;
    std::unordered_map<std::string_view, u64> codes;

    u64 code(const char* block, u64 text) {
        const std::string_view own(block + (text >> 32), text & 0xffffffff);
        const auto [entry, is_new] = codes.try_emplace(own, texts.size());
        if (is_new) texts.push_back(text);
        return entry->second;
    }
};

// Number of newlines.
BEST_CPU size_t newlines(const char* text, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; ++i) count += text[i] == '\n';
    return count;
}

size_t count_line_feeds(nb::bytes piece) { return newlines(piece.c_str(), piece.size()); }

// Appends the offsets after the line feeds in a part of a text that begins at `text`; the next free place.
i64* add_bounds(const char* text, const char* at, const char* end, i64* next) {
    for (; end - at >= 8; at += 8) {
        for (u64 found = matches(at, '\n'); found; found &= found - 1) *next++ = at - text + __builtin_ctzll(found) / 8 + 1;
    }
    for (; at < end; ++at) {
        if (*at == '\n') *next++ = at - text + 1;
    }
    return next;
}

// Offsets of all lines: 0, and those after each line feed.
void line_bounds(nb::bytes piece, Out<i64> bounds) {
    const char *text = piece.c_str(), *end = text + piece.size();
    nb::gil_scoped_release unlocked;
    bounds(0) = 0;
    add_bounds(text, text, end, bounds.data() + 1);
}

// Offsets of all records: 0, and those after each line feed outside quotes; their number, and the place at the end.
std::pair<size_t, u8> find_record_bounds(nb::bytes piece, u8 begin, u8 delimiter, Out<i64> bounds) {
    const char *text = piece.c_str(), *end = text + piece.size(), *at = text;
    nb::gil_scoped_release unlocked;
    i64* next = bounds.data();
    *next++ = 0;
    u8 place = begin;
    while (at < end) {
        if (place == QUOTED) {
            at = find(at, end, '"');
            if (!at) break;
            place = AFTER_QUOTE, ++at;
        } else if (*at == '"' && place != UNQUOTED) {  // opens a field, or is the second of two quotes
            place = QUOTED, ++at;
        } else {
            const char* quote = find(at + (*at == '"'), end, '"');
            const char* stop = quote ? quote : end;
            next = add_bounds(text, at, stop, next);
            at = stop;
            place = stop[-1] == static_cast<char>(delimiter) || stop[-1] == '\n' ? FIELD_START : UNQUOTED;
        }
    }
    return {static_cast<size_t>(next - bounds.data()), place};
}

// Reads the selected columns of some records of a block, each from its start to the line feed before the next start.
//
// A value is the bits of a number, microseconds since 1970, the offset and length of a text, or, for dictionary-encoded
// texts, an index in the list of distinct texts, which is returned. `empty` marks empty fields, `odd` records with a
// selected field that is not plainly written, `invalid` records that are too long, have too few fields, or another number
// than `width`, if it is not 0. A quote is a character like others unless `quoting` is set.
std::vector<std::vector<u64>> scan_records(nb::bytes block, In<i64> starts, In<i64> nexts, i64 longest, i64 width,
                                           In<i64> indices, In<u8> kinds, In<bool> nullable, u8 separator,
                                           bool quoting, const std::vector<nb::bytes>& null_lines, Out<u64, 2> values,
                                           Out<bool, 2> empty, Out<bool> invalid, Out<bool> odd) {
    const char *text = block.c_str(), *end = text + block.size();
    const size_t columns = indices.shape(0), records = nexts.shape(0);
    std::vector<Nulls> nulls;
    for (const nb::bytes& lines : null_lines) nulls.emplace_back(std::string_view(lines.c_str(), lines.size()));
    nb::gil_scoped_release unlocked;
    i64 wanted = 0;
    for (size_t c = 0; c < columns; ++c) wanted = std::max(wanted, indices(c) + 1);
    std::vector<Field> fields(static_cast<size_t>(wanted));
    std::vector<Distinct> distinct(columns);
    const bool quotes = quoting && find(text, end, '"');
    const auto scan_all = [&](auto delimiter) {
        for (size_t record = 0; record < records; ++record) {
            const char *at = text + starts(record), *stop = text + nexts(record) - 1;
            i64 found = 0;
            if (stop - at <= longest) {
                found = quotes && find(at, stop, '"')
                            ? split_quoted(at, stop, delimiter, fields.data(), wanted, width > 0)
                            : split_plain(text, at, stop, delimiter, fields.data(), wanted, width > 0);
            }
            const bool fits = found >= wanted && (!width || found == width);
            invalid(record) = !fits;
            odd(record) = false;
            for (size_t c = 0; c < columns; ++c) {
                const size_t cell = c * records + record;
                Found outcome = EMPTY;
                u64& value = values.data()[cell] = 0;
                if (fits) {
                    const Nulls* own = nullable(c) ? &nulls[c] : nullptr;
                    outcome = read(fields[indices(c)], static_cast<Kind>(kinds(c)), own, text, value);
                }
                if (outcome == VALUE && kinds(c) == CODED) value = distinct[c].code(text, value);
                empty.data()[cell] = outcome == EMPTY;
                odd(record) |= outcome == ODD;
            }
        }
    };
    if (separator == ',') scan_all(std::integral_constant<char, ','>{});
    else scan_all(static_cast<char>(separator));
    std::vector<std::vector<u64>> found;
    for (Distinct& own : distinct) found.push_back(std::move(own.texts));
    return found;
}

}  // namespace

void define_csv(nb::module_& module) {
    define(module, "count_line_feeds", count_line_feeds);
    define(module, "line_bounds", line_bounds);
    define(module, "find_record_bounds", find_record_bounds);
    define(module, "scan_records", scan_records);
}

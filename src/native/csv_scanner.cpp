// Scanner of CSV: the bounds of records, for privhp/io/sources/csv_records.py, and the values of plainly written fields,
// for privhp/io/sources/csv_scanner.py.
//
// These are the only kernels that see records. privhp/io/sources/csv_fields.py defines the values. The scanner reads a
// field to the same value or marks its record as odd, and csv_fields.py then reads that record. No state is kept from
// one record to the next, so that one record cannot affect another.

#include "native.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr std::ptrdiff_t MAX_QUOTED = 1 << 17;  // Python's csv refuses longer fields

enum Kind : u8 { REAL, INTEGER, ADDRESS, TIME, TEXT, CODED };
enum Found : u8 { VALUE, EMPTY, ODD };

enum Place : u8 { FIELD_START, UNQUOTED, QUOTED, AFTER_QUOTE };

struct Field {
    const char *begin, *end;
    bool escaped = false;  // contains quotes, each written as two
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Field trimmed(Field field) {
    while (field.begin < field.end && is_space(*field.begin)) ++field.begin;
    while (field.begin < field.end && is_space(field.end[-1])) --field.end;
    return field;
}

// A number such as 12.34 as the quotient of two integers that are exact as doubles, so that the division rounds as the
// number does.
bool short_decimal(const char* first, const char* end, double& number) {
    constexpr double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    if (end - first > 19) return false;
    u64 digits = 0;
    const char *at = first, *point = end;
    for (; at < end && (is_digit(*at) || (*at == '.' && point == end)); ++at) {
        if (*at == '.') point = at;
        else digits = 10 * digits + (*at - '0');
    }
    if (at < end || (point < end && end - first == 1) || digits > u64{1} << 53) return false;
    number = static_cast<double>(digits) / POWERS[point < end ? end - point - 1 : 0];
    return true;
}

bool real(Field field, u64& value) {
    const bool minus = *field.begin == '-';
    const char* first = field.begin + minus;
    if (first == field.end || !(is_digit(*first) || *first == '.')) return false;
    double number;
    if (!short_decimal(first, field.end, number)) {
        const auto [end, error] = std::from_chars(first, field.end, number);
        if (error != std::errc() || end != field.end) return false;
    }
    if (minus) number = -number;
    std::memcpy(&value, &number, sizeof value);
    return true;
}

bool whole(Field field, u64& value) {
    const bool minus = *field.begin == '-';
    const char *first = field.begin + minus, *at = first;
    i64 number = 0;
    for (; at < field.end && at < first + 18 && is_digit(*at); ++at) number = 10 * number + (*at - '0');
    if (at == first) return false;
    if (at < field.end && *at == '.' && at - first <= 15) {
        const char* fraction = ++at;
        while (at < field.end && *at == '0') ++at;
        if (at == fraction) return false;
    }
    if (at != field.end) return false;
    value = static_cast<u64>(minus ? -number : number);
    return true;
}

bool address(Field field, u64& value) {
    if (!std::memchr(field.begin, '.', field.end - field.begin)) return whole(field, value);
    u64 bits = 0;
    const char* at = field.begin;
    for (int part = 0; part < 4; ++part) {
        if (part && (at == field.end || *at++ != '.')) return false;
        const char* first = at;
        u64 number = 0;
        for (; at < field.end && at < first + 3 && is_digit(*at); ++at) number = 10 * number + (*at - '0');
        if (at == first || number > 255 || (*first == '0' && at - first > 1)) return false;
        bits = bits << 8 | number;
    }
    value = bits;
    return at == field.end;
}

// A number of `count` digits, or -1.
i64 digits(const char* at, int count) {
    i64 number = 0;
    for (int place = 0; place < count; ++place) {
        if (!is_digit(at[place])) return -1;
        number = 10 * number + (at[place] - '0');
    }
    return number;
}

// Days since 1970 in the Gregorian calendar, from the first of March of the year 0 on.
i64 days(i64 year, i64 month, i64 day) {
    year -= month <= 2;
    const i64 era = year / 400, of_era = year % 400;
    const i64 of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "2019-07-04", "2019-07-04 12:30", with seconds and up to six digits of a fraction, in UTC: microseconds since 1970.
bool time(Field field, u64& value) {
    constexpr int LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const size_t size = field.end - field.begin;
    const char* at = field.begin;
    if (size < 10 || size == 11 || at[4] != '-' || at[7] != '-') return false;
    const i64 year = digits(at, 4), month = digits(at + 5, 2), day = digits(at + 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1) return false;
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > LENGTHS[month - 1] + (month == 2 && leap)) return false;
    i64 hour = 0, minute = 0, second = 0, fraction = 0;
    if (size > 10) {
        if (size < 16 || (at[10] != 'T' && at[10] != ' ') || at[13] != ':') return false;
        hour = digits(at + 11, 2), minute = digits(at + 14, 2);
        if (size > 16) {
            if (size < 19 || at[16] != ':') return false;
            second = digits(at + 17, 2);
        }
        if (size > 19) {
            const int decimals = static_cast<int>(size) - 20;
            if (at[19] != '.' || decimals < 1 || decimals > 6) return false;
            fraction = digits(at + 20, decimals);
            if (fraction < 0) return false;
            for (int place = decimals; place < 6; ++place) fraction *= 10;
        }
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
    }
    const i64 seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    value = static_cast<u64>(seconds * 1000000 + fraction);
    return true;
}

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

// Number of commas in a part of a text that begins at `text`. The last 16 bytes are counted without a branch, since the
// lengths of records are hard to predict.
i64 count_commas(const char* text, const char* at, const char* end) {
    if (end - text < 16) return std::count(at, end, ',');
    i64 count = 0;
    for (; end - at > 16; at += 8) count += (matches(at, ',') >> 7) * EACH_BYTE >> 56;
    const i64 size = end - at, before = 4 * (8 - std::min<i64>(size, 8)), far = 4 * (8 - std::max<i64>(size - 8, 0));
    const u64 last = matches(end - 8, ',') >> before >> before, other = matches(end - 16, ',') >> far >> far;
    return count + (((last >> 7) + (other >> 7)) * EACH_BYTE >> 56);
}

// Splits a record into its fields and keeps the first `wanted`; the number of fields, or -1 if the record is not plainly
// written. If `all` is not set, no field behind the wanted ones is counted.
i64 split_plain(const char* text, const char* at, const char* end, Field* fields, i64 wanted, bool all) {
    for (i64 found = 0; found < wanted;) {
        const char* comma = find(at, end, ',');
        fields[found++] = {at, comma ? comma : end};
        if (!comma) return found;
        at = comma + 1;
    }
    return wanted + (all ? 1 + count_commas(text, at, end) : 0);
}

// The first comma, quote or carriage return, or the end.
const char* first_special(const char* at, const char* end) {
    for (; end - at >= 8; at += 8) {
        const u64 found = matches(at, ',') | matches(at, '"') | matches(at, '\r');
        if (found) return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && *at != ',' && *at != '"' && *at != '\r') ++at;
    return at;
}

i64 split_quoted(const char* at, const char* end, Field* fields, i64 wanted) {
    if (end > at && end[-1] == '\r') --end;
    if (end - at > MAX_QUOTED) return -1;
    for (i64 found = 0;; ++at) {
        Field field{at, end};
        if (at < end && *at == '"') {
            const char* close = find(at + 1, end, '"');
            for (; close && close + 1 < end && close[1] == '"'; close = find(close + 2, end, '"')) field.escaped = true;
            if (!close || (close + 1 < end && close[1] != ',')) return -1;
            field.begin = at + 1, field.end = close;
            at = close + 1;
        } else {
            at = first_special(at, end);
            if (at < end && *at != ',') return -1;
            field.end = at;
        }
        if (found < wanted) fields[found] = field;
        ++found;
        if (at == end) return found;
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

Found read(Field field, Kind kind, bool nullable, const char* text, u64& value) {
    if (field.escaped) return ODD;
    field = trimmed(field);
    const u64 size = field.end - field.begin;
    if (!size && (nullable || kind < TEXT)) return EMPTY;
    if (kind >= TEXT) {
        value = static_cast<u64>(field.begin - text) << 32 | size;
        return VALUE;
    }
    const bool plain = kind == REAL      ? real(field, value)
                       : kind == INTEGER   ? whole(field, value)
                       : kind == ADDRESS ? address(field, value)
                                         : time(field, value);
    return plain ? VALUE : ODD;
}

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
std::pair<size_t, u8> record_bounds(nb::bytes piece, u8 begin, Out<i64> bounds) {
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
            place = stop[-1] == ',' || stop[-1] == '\n' ? FIELD_START : UNQUOTED;
        }
    }
    return {static_cast<size_t>(next - bounds.data()), place};
}

// Reads the selected columns of some records of a block, each from its start to the line feed before the next start.
//
// A value is the bits of a number, microseconds since 1970, the offset and length of a text, or, for dictionary-encoded
// texts, an index in the list of distinct texts, which is returned. `empty` marks empty fields, `odd` records that are
// not plainly written, `invalid` records that are too long, have too few fields, or another number than `width`, if it
// is not 0.
std::vector<std::vector<u64>> scan(nb::bytes block, In<i64> starts, In<i64> nexts, i64 longest, i64 width,
                                   In<i64> indices, In<u8> kinds, In<bool> nullable, Out<u64, 2> values,
                                   Out<bool, 2> empty, Out<bool> invalid, Out<bool> odd) {
    const char *text = block.c_str(), *end = text + block.size();
    const size_t columns = indices.shape(0), records = nexts.shape(0);
    nb::gil_scoped_release unlocked;
    i64 wanted = 0;
    for (size_t c = 0; c < columns; ++c) wanted = std::max(wanted, indices(c) + 1);
    std::vector<Field> fields(static_cast<size_t>(wanted));
    std::vector<Distinct> distinct(columns);
    const bool quotes = find(text, end, '"');
    for (size_t record = 0; record < records; ++record) {
        const char *at = text + starts(record), *stop = text + nexts(record) - 1;
        i64 found = 0;
        if (stop - at <= longest) {
            found = quotes && find(at, stop, '"') ? split_quoted(at, stop, fields.data(), wanted)
                                                  : split_plain(text, at, stop, fields.data(), wanted, width > 0);
        }
        const bool fits = found >= wanted && (!width || found == width);
        odd(record) = found < 0;
        invalid(record) = found >= 0 && !fits;
        for (size_t c = 0; c < columns; ++c) {
            const size_t cell = c * records + record;
            Found outcome = EMPTY;
            values.data()[cell] = 0;
            if (fits) {
                outcome = read(fields[indices(c)], static_cast<Kind>(kinds(c)), nullable(c), text, values.data()[cell]);
            }
            if (outcome == VALUE && kinds(c) == CODED) values.data()[cell] = distinct[c].code(text, values.data()[cell]);
            empty.data()[cell] = outcome == EMPTY;
            odd(record) |= outcome == ODD;
        }
    }
    std::vector<std::vector<u64>> found;
    for (Distinct& own : distinct) found.push_back(std::move(own.texts));
    return found;
}

}  // namespace

void define_csv(nb::module_& module) {
    define(module, "count_line_feeds", count_line_feeds);
    define(module, "line_bounds", line_bounds);
    define(module, "record_bounds", record_bounds);
    define(module, "scan", scan);
}

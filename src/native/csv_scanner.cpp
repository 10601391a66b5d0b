// Scanner of CSV lines: the values of plainly written fields, for privhp/io/sources/csv_scanner.py.
//
// This is the one kernel that sees records. privhp/io/sources/csv_fields.py defines the values. The scanner reads a
// field to the same value or marks its line as odd, and csv_fields.py then reads that line. No state is kept from one
// line to the next, so that one line cannot affect another.

#include "native.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr size_t MAX_QUOTED = 1 << 17;  // Python's csv refuses longer fields

enum Kind : u8 { REAL, INTEGER, ADDRESS, TIME, TEXT, CODED };
enum Found : u8 { VALUE, EMPTY, ODD };

struct Field {
    const char *begin, *end;
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Field trimmed(Field field) {
    while (field.begin < field.end && is_space(*field.begin)) ++field.begin;
    while (field.begin < field.end && is_space(field.end[-1])) --field.end;
    return field;
}

bool real(Field field, u64& value) {
    const char* first = field.begin + (*field.begin == '-');
    if (first == field.end || !(is_digit(*first) || *first == '.')) return false;
    double number;
    const auto [end, error] = std::from_chars(field.begin, field.end, number);
    if (error != std::errc() || end != field.end) return false;
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

// Splits a line into the first `wanted` fields; their number, or -1 if the line is not plainly written.
int split_plain(const char* at, const char* end, Field* fields, int wanted) {
    int found = 0;
    while (found < wanted) {
        const char* comma = static_cast<const char*>(std::memchr(at, ',', end - at));
        fields[found++] = {at, comma ? comma : end};
        if (!comma) break;
        at = comma + 1;
    }
    return found;
}

int split_quoted(const char* at, const char* end, Field* fields, int wanted) {
    if (end > at && end[-1] == '\r') --end;
    const size_t size = end - at;
    if (size > MAX_QUOTED || std::memchr(at, '\r', size) || std::memchr(at, 0, size)) return -1;
    int found = 0;
    for (;; ++at) {
        Field field{at, end};
        if (at < end && *at == '"') {
            const char* close = static_cast<const char*>(std::memchr(at + 1, '"', end - at - 1));
            if (!close || (close + 1 < end && close[1] != ',')) return -1;
            field = {at + 1, close};
            at = close + 1;
        } else {
            while (at < end && *at != ',') {
                if (*at++ == '"') return -1;
            }
            field.end = at;
        }
        if (found < wanted) fields[found] = field;
        ++found;
        if (at == end) return std::min(found, wanted);
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

size_t count_lines(nb::bytes block) {
    const size_t size = block.size();
    return newlines(block.c_str(), size) + (size && block.c_str()[size - 1] != '\n');
}

// Reads the selected columns of every line of a block.
//
// A value is the bits of a number, microseconds since 1970, the offset and length of a text, or, for dictionary-encoded
// texts, an index in the list of distinct texts, which is returned. `empty` marks empty fields, `odd` lines that are not
// plainly written, `invalid` lines that are too long or have too few fields.
std::vector<std::vector<u64>> scan(nb::bytes block, size_t longest, In<i64> indices, In<u8> kinds, In<bool> nullable,
                                   Out<u64, 2> values, Out<bool, 2> empty, Out<bool> invalid, Out<bool> odd) {
    const char *text = block.c_str(), *end = text + block.size();
    const size_t columns = indices.shape(0), lines = invalid.shape(0);
    nb::gil_scoped_release unlocked;
    i64 wanted = 0;
    for (size_t c = 0; c < columns; ++c) wanted = std::max(wanted, indices(c) + 1);
    std::vector<Field> fields(static_cast<size_t>(wanted));
    std::vector<Distinct> distinct(columns);
    const bool quotes = std::memchr(text, '"', end - text);
    const char* at = text;
    for (size_t line = 0; line < lines && at <= end; ++line) {
        const char* stop = static_cast<const char*>(std::memchr(at, '\n', end - at));
        if (!stop) stop = end;
        const size_t size = stop - at;
        const bool quoted = quotes && std::memchr(at, '"', size);
        int found = 0;
        if (size <= longest) {
            found = (quoted ? split_quoted : split_plain)(at, stop, fields.data(), static_cast<int>(wanted));
        }
        odd(line) = found < 0;
        invalid(line) = found >= 0 && found < wanted;
        for (size_t c = 0; c < columns; ++c) {
            const size_t cell = c * lines + line;
            Found outcome = EMPTY;
            values.data()[cell] = 0;
            if (found >= wanted) {
                outcome = read(fields[indices(c)], static_cast<Kind>(kinds(c)), nullable(c), text, values.data()[cell]);
            }
            if (outcome == VALUE && kinds(c) == CODED) values.data()[cell] = distinct[c].code(text, values.data()[cell]);
            empty.data()[cell] = outcome == EMPTY;
            odd(line) |= outcome == ODD;
        }
        at = stop + 1;
    }
    std::vector<std::vector<u64>> found;
    for (Distinct& own : distinct) found.push_back(std::move(own.texts));
    return found;
}

}  // namespace

void define_csv(nb::module_& module) {
    define(module, "count_lines", count_lines);
    define(module, "scan", scan);
}

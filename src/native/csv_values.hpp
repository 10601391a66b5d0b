// Values of the fields of CSV: numbers, addresses, times and null, as privhp/io/sources/csv_fields.py defines them.
//
// A field is read to the same value, or is odd: csv_fields.py then reads its record. The functions of the loop over
// records are always inlined: it is compiled for a comma and for any delimiter, and calls would cost a tenth of its time.

#pragma once

#include "native.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum Kind : u8 { REAL, INTEGER, ADDRESS, TIME, DATE, TEXT, CODED };
enum Found : u8 { VALUE, EMPTY, ODD };

struct Field {
    const char *begin, *end;
    bool escaped = false;  // contains quotes, each written as two
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c; }

INLINE inline Field trimmed(Field field) {
    while (field.begin < field.end && is_space(*field.begin)) ++field.begin;
    while (field.begin < field.end && is_space(field.end[-1])) --field.end;
    return field;
}

// A number such as 12.34 as the quotient of two integers that are exact as doubles, so that the division rounds as the
// number does.
INLINE inline bool short_decimal(const char* first, const char* end, double& number) {
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

INLINE inline bool real(Field field, u64& value) {
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

// Takes an offset from UTC off the end of a time of day: "Z", "+02", "+0200" or "+02:00", in minutes, or 0 without one;
// false if it is invalid.
bool take_offset(Field& field, i64& minutes) {
    minutes = 0;
    if (field.end[-1] == 'Z') return --field.end, true;
    for (const int width : {3, 5, 6}) {
        const char* sign = field.end - width;
        if (*sign != '+' && *sign != '-') continue;
        const i64 hour = digits(sign + 1, 2), minute = width > 3 ? digits(field.end - 2, 2) : 0;
        minutes = (*sign == '-' ? -1 : 1) * (60 * hour + minute);
        field.end = sign;
        return (width < 6 || sign[3] == ':') && hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
    }
    return true;
}

// "2019-07-04", "2019-07-04 12:30", with seconds, up to six digits of a fraction and an offset: microseconds since 1970, in
// UTC or, for a date, on the clock that the text shows. Never a time before the year 1 or after 9999, which Python's
// datetimes do not have.
bool time(Field field, bool in_utc, u64& value) {
    constexpr int LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    i64 offset = 0;
    if (field.end - field.begin > 16 && !take_offset(field, offset)) return false;
    const size_t size = field.end - field.begin;
    const char* at = field.begin;
    if (size < 10 || size == 11 || at[4] != '-' || at[7] != '-') return false;
    const i64 year = digits(at, 4), month = digits(at + 5, 2), day = digits(at + 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1) return false;
    if (offset && (year == 1 || year == 9999)) return false;
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
    value = static_cast<u64>((seconds - (in_utc ? 60 * offset : 0)) * 1000000 + fraction);
    return true;
}

// Texts of null, in lower case and each with a line feed behind it.
struct Nulls {
    std::vector<std::string> texts;
    bool first[256] = {};  // whether a text begins with this byte

    explicit Nulls(std::string_view lines) {
        for (size_t end; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1)) {
            texts.emplace_back(lines.substr(0, end));
            first[static_cast<u8>(lines[0])] = first[static_cast<u8>(upper(lines[0]))] = true;
        }
    }

    __attribute__((noinline)) bool contains(Field field) const {
        if (field.begin == field.end || !first[static_cast<u8>(*field.begin)]) return false;
        const auto same = [](char wanted, char c) { return wanted == lower(c); };
        const auto equals = [&](const std::string& own) {
            return std::equal(own.begin(), own.end(), field.begin, field.end, same);
        };
        return std::any_of(texts.begin(), texts.end(), equals);
    }
};

// The value of a field, which is nullable if it has texts of null.
INLINE inline Found read(Field field, Kind kind, const Nulls* nulls, const char* text, u64& value) {
    if (field.escaped) return ODD;
    field = trimmed(field);
    const u64 size = field.end - field.begin;
    if (!size && (nulls || kind < TEXT)) return EMPTY;
    if (nulls && nulls->contains(field)) return EMPTY;
    if (kind >= TEXT) {
        value = static_cast<u64>(field.begin - text) << 32 | size;
        return VALUE;
    }
    const bool plain = kind == REAL      ? real(field, value)
                       : kind == INTEGER   ? whole(field, value)
                       : kind == ADDRESS ? address(field, value)
                                         : time(field, kind == TIME, value);
    return plain ? VALUE : ODD;
}

}  // namespace

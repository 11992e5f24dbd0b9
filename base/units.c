#include "base/units.h"

#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* long double: "10us" is then the double nearest to 1e-5, which 10 * 1e-6 in doubles is not. */
struct unit {
    const char *name;
    long double factor;
};

static const struct unit size_units[] = {
    {"B", 1},        {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
    {"TB", 1e12},    {"PB", 1e15},    {"KiB", 1024.0}, {"kiB", 1024.0}, {"MiB", 1048576.0},
    {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50},
};
static const struct unit duration_units[] = {
    {"ns", 1e-9L}, {"us", 1e-6L}, {"ms", 1e-3L}, {"s", 1},     {"sec", 1},
    {"m", 60},     {"min", 60},   {"h", 3600},   {"d", 86400},
};
enum {
    SIZE_UNITS = sizeof size_units / sizeof *size_units,
    DURATION_UNITS = sizeof duration_units / sizeof *duration_units,
    MOST_UNITS = SIZE_UNITS > DURATION_UNITS ? SIZE_UNITS : DURATION_UNITS,
};

/* glibc and musl give their built-in object for "C": no allocation, nothing to free. */
static locale_t c_locale(void) {
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int units_print(char *out, size_t size, const char *format, ...) {
    va_list args;
    locale_t before = uselocale(c_locale());
    va_start(args, format);
    int length = vsnprintf(out, size, format, args);
    va_end(args);
    uselocale(before);
    return length;
}

static const char *skip_digits(const char *c) {
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

/* End of the decimal number that text begins with, or NULL. strtod alone would take "inf", "nan" and
 * "0x1p3" too. */
static const char *number_end(const char *text) {
    const char *c = text + (*text == '-' || *text == '+');
    const char *whole = c;
    c = skip_digits(c);
    size_t digits = (size_t)(c - whole);
    if (*c == '.') {
        const char *fraction = ++c;
        c = skip_digits(c);
        digits += (size_t)(c - fraction);
    }
    if (digits == 0)
        return NULL;
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1 + (c[1] == '-' || c[1] == '+');
        const char *end = skip_digits(exponent);
        if (end > exponent)
            c = end;
    }
    return c;
}

static const char *skip_blanks(const char *c) {
    while (*c == ' ' || *c == '\t')
        c++;
    return c;
}

int units_parse_number(const char *text, double *out, struct err *e) {
    const char *begin = skip_blanks(text);
    const char *end = number_end(begin);
    if (!end || *skip_blanks(end))
        return err_set(e, ERR_PARSE, "\"%.60s\" is not a number; write digits as in 1.5 or 2e9", text);
    double value = strtod_l(begin, NULL, c_locale());
    if (!isfinite(value))
        return err_set(e, ERR_PARSE, "%.60s is too large for a number", text);
    *out = value;
    return 0;
}

/* The unit that text begins with; *length is that of the word. NULL when no row has it. */
static const struct unit *find_unit(const char *text, const struct unit *units, size_t count,
                                    size_t *length) {
    size_t n = 0;
    while (text[n] && !strchr(" \t0123456789.+-", text[n]))
        n++;
    *length = n;
    for (size_t i = 0; i < count; i++)
        if (strlen(units[i].name) == n && memcmp(units[i].name, text, n) == 0)
            return &units[i];
    return NULL;
}

static int unknown_unit(const char *text, const char *word, const struct unit *units, size_t count,
                        struct err *e) {
    const char *names[MOST_UNITS];
    struct text list = {0};
    for (size_t i = 0; i < count; i++) {
        names[i] = units[i].name;
        text_printf(&list, "%s%s", i ? ", " : "", units[i].name);
    }
    const char *nearest = text_nearest(word, names, count);
    if (nearest)
        err_set(e, ERR_PARSE, "\"%.60s\": unknown unit \"%.20s\"; did you mean \"%s\"? (%s)", text, word,
                nearest, text_get(&list));
    else
        err_set(e, ERR_PARSE, "\"%.60s\": unknown unit \"%.20s\"; use one of %s", text, word,
                text_get(&list));
    text_free(&list);
    return -1;
}

int units_parse_size(const char *text, uint64_t *out_bytes, struct err *e) {
    const char *begin = skip_blanks(text);
    const char *end = number_end(begin);
    if (!end)
        return err_set(e, ERR_PARSE, "\"%.60s\" is not a size; write a number and a unit, as in 64MiB", text);
    /* long double: a double would lose the last bits of a byte count above 2^53. */
    long double value = strtold_l(begin, NULL, c_locale());
    const char *word = skip_blanks(end);
    const struct unit *unit = &size_units[0];
    if (*word) {
        size_t length;
        unit = find_unit(word, size_units, SIZE_UNITS, &length);
        if (!unit || *skip_blanks(word + length))
            return unknown_unit(text, word, size_units, SIZE_UNITS, e);
    }
    if (value < 0)
        return err_set(e, ERR_PARSE, "\"%.60s\": a size cannot be negative", text);
    if (unit->factor == 1 && value != floorl(value))
        return err_set(e, ERR_PARSE, "\"%.60s\": a byte has no fractions; add a unit, as in 1.5GiB", text);
    value *= unit->factor;
    if (!(value <= 0x1p63L))
        return err_set(e, ERR_PARSE, "\"%.60s\": more than 2^63 bytes", text);
    *out_bytes = (uint64_t)roundl(value);
    return 0;
}

int units_parse_duration(const char *text, double *out_s, struct err *e) {
    const char *c = skip_blanks(text);
    long double sum_s = 0;
    do {
        const char *end = number_end(c);
        if (!end)
            return err_set(e, ERR_PARSE,
                           "\"%.60s\" is not a duration; write a number and a unit, as in 90s or 1h30m",
                           text);
        long double value = strtold_l(c, NULL, c_locale());
        if (value < 0)
            return err_set(e, ERR_PARSE, "\"%.60s\": a duration cannot be negative", text);
        const char *word = skip_blanks(end);
        if (!*word)
            return err_set(e, ERR_PARSE, "\"%.60s\" has no unit; write %.*ss, %.*sm or %.*sh", text,
                           (int)(end - c), c, (int)(end - c), c, (int)(end - c), c);
        size_t length;
        const struct unit *unit = find_unit(word, duration_units, DURATION_UNITS, &length);
        if (!unit)
            return unknown_unit(text, word, duration_units, DURATION_UNITS, e);
        sum_s += value * unit->factor;
        c = skip_blanks(word + length);
    } while (*c);
    if (!isfinite((double)sum_s))
        return err_set(e, ERR_PARSE, "\"%.60s\" is too long for a duration", text);
    *out_s = (double)sum_s;
    return 0;
}

/* value with this many significant digits and no exponent where one can be avoided. */
static int significant(char *out, double value, int digits) {
    double size = fabs(value);
    if (size == 0 || size < 1e-4 || size >= 1e6)
        return units_print(out, UNITS_TEXT_SIZE, "%.*g", digits, value);
    int decimals = digits - 1 - (int)floor(log10(size));
    /* 9.996 to three digits is 10.0, not 10.00. */
    if (decimals > 0 && round(size * pow(10, decimals)) >= pow(10, digits))
        decimals--;
    return units_print(out, UNITS_TEXT_SIZE, "%.*f", decimals > 0 ? decimals : 0, value);
}

static bool rounds_below(double value, int digits, double base) {
    if (fabs(value) < 1)
        return true; /* and the scale of a denormal would overflow */
    double decimals = digits - 1 - floor(log10(fabs(value)));
    double scale = pow(10, decimals > 0 ? decimals : 0);
    return round(fabs(value) * scale) / scale < base;
}

struct scale {
    double base;
    const char *const *names; /* NULL-terminated, smallest first */
    int digits;
    bool whole; /* whole numbers without decimals */
};

static char *scaled(char *out, double value, const struct scale *s) {
    if (isnan(value))
        return memcpy(out, "-", 2);
    size_t step = 0;
    while (value != 0 && isfinite(value) && s->names[step + 1] && !rounds_below(value, s->digits, s->base)) {
        value /= s->base;
        step++;
    }
    bool whole = value == floor(value) && fabs(value) < 1e6 && (s->whole || step == 0);
    int used = whole ? units_print(out, UNITS_TEXT_SIZE, "%.0f", value) : significant(out, value, s->digits);
    snprintf(out + used, UNITS_TEXT_SIZE - (size_t)used, "%s", s->names[step]);
    return out;
}

char *units_format_bytes(double bytes, char *out) {
    static const char *const names[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB", NULL};
    return scaled(out, bytes, &(struct scale){1024, names, 3, true});
}

char *units_format_bytes_per_s(double rate, char *out) {
    static const char *const names[] = {" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s", NULL};
    return scaled(out, rate, &(struct scale){1000, names, 3, false});
}

char *units_format_flop_per_s(double rate, char *out) {
    static const char *const names[] = {" FLOP/s",  " kFLOP/s", " MFLOP/s", " GFLOP/s",
                                        " TFLOP/s", " PFLOP/s", " EFLOP/s", NULL};
    return scaled(out, rate, &(struct scale){1000, names, 3, false});
}

char *units_format_flop(double flop, char *out) {
    static const char *const names[] = {" FLOP",  " kFLOP", " MFLOP", " GFLOP", " TFLOP",
                                        " PFLOP", " EFLOP", " ZFLOP", " YFLOP", NULL};
    return scaled(out, flop, &(struct scale){1000, names, 3, false});
}

char *units_format_count(double count, char *out) {
    static const char *const names[] = {"", " k", " M", " G", " T", NULL};
    return scaled(out, count, &(struct scale){1000, names, 4, false});
}

char *units_format_duration(double seconds, char *out) {
    static const char *const names[] = {" ns", " us", " ms", " s", NULL};
    if (isnan(seconds))
        return memcpy(out, "-", 2);
    double size = fabs(seconds);
    const char *sign = seconds < 0 ? "-" : "";
    if (size == 0)
        return memcpy(out, "0 s", 4);
    if (size < 59.95)
        return scaled(out, seconds * 1e9, &(struct scale){1000, names, 3, false});
    if (round(size) < 3600)
        units_print(out, UNITS_TEXT_SIZE, "%s%.0f m %.0f s", sign, floor(round(size) / 60),
                    fmod(round(size), 60));
    else if (size < 48 * 3600.0)
        units_print(out, UNITS_TEXT_SIZE, "%.1f h", seconds / 3600);
    else
        units_print(out, UNITS_TEXT_SIZE, size < 1e12 ? "%.1f d" : "%.3g d", seconds / 86400);
    return out;
}

char *units_format_percent(double ratio, char *out) {
    if (isnan(ratio))
        return memcpy(out, "-", 2);
    int used = significant(out, ratio * 100, 3);
    snprintf(out + used, UNITS_TEXT_SIZE - (size_t)used, " %%");
    return out;
}

char *units_format_exact(double value, char *out) {
    if (isnan(value))
        return memcpy(out, "-", 2);
    if (value == floor(value) && fabs(value) < 1e15) {
        units_print(out, UNITS_TEXT_SIZE, "%.0f", value);
        return out;
    }
    for (int digits = 1; digits <= 17; digits++) {
        units_print(out, UNITS_TEXT_SIZE, "%.*g", digits, value);
        if (strtod_l(out, NULL, c_locale()) == value)
            break;
    }
    return out;
}

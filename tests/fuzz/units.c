/* base/units: what is accepted is finite and within range, means what the C library reads, and comes back
 * from its own text. */
#include "tests/fuzz/fuzz.h"

#include "base/units.h"

#include <math.h>

/* The human texts show three digits; of hours and days one decimal, so 1.0 h may be 1.05 h. */
static const double three_digits = 0.00501, one_decimal = 0.0501;

static void check_number(const char *text) {
    struct err e = {0};
    double value = NAN, again = NAN;
    char exact[UNITS_TEXT_SIZE];
    if (units_parse_number(text, &value, &e) != 0) {
        fuzz_check_error(&e, ERR_PARSE);
        return;
    }
    HOLDS(isfinite(value), "%g", value);
    HOLDS(value == strtod(text, NULL), "%.17g of %s", value, text);
    HOLDS(units_parse_number(units_format_exact(value, exact), &again, &e) == 0, "%s: %s", exact, e.text);
    HOLDS(again == value, "%.17g came back as %.17g", value, again);
}

static void check_size(const char *text) {
    struct err e = {0};
    uint64_t bytes = 0, again = 0;
    char shown[UNITS_TEXT_SIZE];
    if (units_parse_size(text, &bytes, &e) != 0) {
        fuzz_check_error(&e, ERR_PARSE);
        return;
    }
    HOLDS(bytes <= UINT64_C(1) << 63, "%llu", (unsigned long long)bytes);
    snprintf(shown, sizeof shown, "%lluB", (unsigned long long)bytes);
    HOLDS(units_parse_size(shown, &again, &e) == 0, "%s: %s", shown, e.text);
    HOLDS(again == bytes, "%llu of %s", (unsigned long long)again, shown);
    units_format_bytes((double)bytes, shown);
    if (strstr(shown, "EiB"))
        return; /* no unit of the user's */
    HOLDS(units_parse_size(shown, &again, &e) == 0, "%s: %s", shown, e.text);
    HOLDS(fabs((double)again - (double)bytes) <= three_digits * (double)bytes, "%s of %llu", shown,
          (unsigned long long)bytes);
}

static void check_duration(const char *text) {
    struct err e = {0};
    double seconds = NAN, again = NAN;
    char shown[UNITS_TEXT_SIZE + 1];
    if (units_parse_duration(text, &seconds, &e) != 0) {
        fuzz_check_error(&e, ERR_PARSE);
        return;
    }
    HOLDS(isfinite(seconds) && seconds >= 0, "%g", seconds);
    strcat(units_format_exact(seconds, shown), "s");
    HOLDS(units_parse_duration(shown, &again, &e) == 0, "%s: %s", shown, e.text);
    HOLDS(again == seconds, "%.17g s came back as %.17g", seconds, again);
    units_format_duration(seconds, shown);
    HOLDS(units_parse_duration(shown, &again, &e) == 0, "%s: %s", shown, e.text);
    HOLDS(fabs(again - seconds) <= (seconds < 3599 ? three_digits : one_decimal) * seconds, "%s of %.17g s",
          shown, seconds);
}

/* Any double can be shown, none in more than UNITS_TEXT_SIZE bytes. */
static void check_formats(const uint8_t *bytes, size_t size) {
    static char *(*const formats[])(double, char *) = {
        units_format_bytes,    units_format_bytes_per_s, units_format_flop_per_s, units_format_flop,
        units_format_duration, units_format_percent,     units_format_count,      units_format_exact};
    double value;
    if (size < sizeof value)
        return;
    memcpy(&value, bytes, sizeof value);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *out = xmalloc(UNITS_TEXT_SIZE);
        HOLDS(formats[i](value, out) == out, "format %zu", i);
        HOLDS(memchr(out, '\0', UNITS_TEXT_SIZE) && out[0] && fuzz_printable(out), "format %zu of %g", i,
              value);
        HOLDS(isnan(value) == (strcmp(out, "-") == 0), "%g is %s", value, out);
        HOLDS(!(value > 0 && value <= 1e300) || strpbrk(out, "123456789"), "%g is %s", value, out);
        free(out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size);
    check_number(text);
    check_size(text);
    check_duration(text);
    check_formats(bytes, size);
    free(text);
    return 0;
}

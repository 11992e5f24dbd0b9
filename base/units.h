/* Numbers with units, both ways. The program keeps base units inside (bytes, seconds, FLOP, bytes per
 * second, USD per hour ...); prefixes exist only here. Decimal prefixes are powers of 1000 (GB = 10^9),
 * binary ones of 1024 (GiB = 2^30). Numbers are read and written in the C locale. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { UNITS_TEXT_SIZE = 32 };

/* snprintf in the C locale, whatever the process or thread has set. */
int units_print(char *out, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* A whole text as a finite double in the C locale; "nan", "inf", hex and trailing words are errors. */
int units_parse_number(const char *text, double *out, struct err *e) MUST_CHECK;
/* "4096", "64MiB", "2 GB", "1.5GiB". Without a unit: bytes. Negative or above 2^63 is an error. */
int units_parse_size(const char *text, uint64_t *out_bytes, struct err *e) MUST_CHECK;
/* "90s", "15m", "2h", "1d", "250ms", "10us", "1h30m" (a sum). A bare number is an error: the unit is part of
 * it. */
int units_parse_duration(const char *text, double *out_s, struct err *e) MUST_CHECK;

/* Each writes at most UNITS_TEXT_SIZE bytes into out and returns out; NaN is "-".
 * Three significant digits unless said otherwise. */
char *units_format_bytes(double bytes, char *out);      /* "1.50 GiB", "64 KiB"           */
char *units_format_bytes_per_s(double rate, char *out); /* "23.4 GB/s", decimal           */
char *units_format_flop_per_s(double rate, char *out);  /* "131 GFLOP/s"                  */
char *units_format_flop(double flop, char *out);        /* "409 TFLOP"                    */
char *units_format_duration(double seconds, char *out); /* "1.24 ms", "3 m 20 s", "2.1 h" */
char *units_format_percent(double ratio, char *out);    /* 0.1234 -> "12.3 %"             */
char *units_format_count(double count, char *out);      /* "124.4 M"                      */
/* Fewest digits that read back as the same double ("0.1", "100", "1e+22"); for files and JSON. */
char *units_format_exact(double value, char *out);

#endif

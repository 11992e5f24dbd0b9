/* What every test program of base/ needs: cmocka in its include order, and checks of struct err. */
#ifndef TESTS_BASE_CHECK_H
#define TESTS_BASE_CHECK_H

#include <stdarg.h>
#include <stddef.h>
/* The two above and setjmp must come before cmocka.h. */
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

#include <math.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* result is a call that fills e. */
#define assert_ok(result, e)                                                                                 \
    do {                                                                                                     \
        (e)->text[0] = '\0';                                                                                 \
        if ((result) != 0)                                                                                   \
            fail_msg("unexpected error: %s", (e)->text);                                                     \
    } while (0)

/* The error's code, and a piece of its text. */
#define assert_error(e, wanted_code, piece)                                                                  \
    do {                                                                                                     \
        assert_string_equal(err_name((e)->code), err_name(wanted_code));                                     \
        if (!strstr((e)->text, piece))                                                                       \
            fail_msg("\"%s\" does not say \"%s\"", (e)->text, piece);                                        \
    } while (0)

#define assert_same(got, want)                                                                               \
    do {                                                                                                     \
        double got_ = (got), want_ = (want);                                                                 \
        if (!(got_ == want_ || (isnan(got_) && isnan(want_))))                                               \
            fail_msg("%.17g is not %.17g", got_, want_);                                                     \
    } while (0)

#define assert_near(got, want, relative)                                                                     \
    do {                                                                                                     \
        double got_ = (got), want_ = (want);                                                                 \
        if (!(fabs(got_ - want_) <= fabs(want_) * (relative)))                                               \
            fail_msg("%.17g is not near %.17g", got_, want_);                                                \
    } while (0)

#endif

/* Money and prices. The currency is part of the type, never of a field's name: amounts of different
 * currencies do not add or compare, and mixing them is an error that names both.
 * A price is money per unit of time; per what (a node, a GPU) is said by the offer. */
#ifndef BASE_MONEY_H
#define BASE_MONEY_H

#include "base/err.h"

#include <stdbool.h>

struct money {
    double amount;    /* NaN = unknown; zero is never "unknown" here */
    char currency[4]; /* ISO 4217, upper case: "USD"                 */
};

struct price {
    struct money per_hour;
};

/* Hours of a month where a price is per month: the clouds' convention (8760 / 12). Some sellers count 672 or
 * 720. */
#define MONEY_MONTH_HOURS 730.0

struct money money_make(double amount, const char *currency);
struct money money_unknown(void);

/* "12.50 USD", "USD 12.50", "$12.50", "12.50" (USD, as the catalogues quote). Negative is an error. */
int money_parse(const char *text, struct money *out, struct err *e) MUST_CHECK;
/* As money_parse with a time unit: "$3.06/h", "0.05/h", "5000 USD/month", "EUR 1.1/d". The unit is
 * required: "0.05" alone is an error that says so, and so is what money_is_price denies. A month has
 * month_hours hours. */
int money_parse_price(const char *text, double month_hours, struct price *out, struct err *e) MUST_CHECK;

/* Can an hour cost this? From 1e-9 to 1e12: zero is never free here, and with more the sums overflow. */
bool money_is_price(double per_hour);

/* out = a + b; ERR_PARSE when the currencies differ. */
int money_add(struct money a, struct money b, struct money *out, struct err *e) MUST_CHECK;
struct money money_scale(struct money m, double factor);

/* "$0.0123", "EUR 12.50", "-" for unknown; four significant digits under 1, two decimals from 1.
 * Writes at most 32 bytes into out and returns it. */
char *money_format(struct money m, char *out);

#endif

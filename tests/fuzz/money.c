/* base/money: an accepted amount is finite and not negative, its currency is known, and it comes back from
 * its own text; an accepted price is one that an hour can cost. */
#include "tests/fuzz/fuzz.h"

#include "base/money.h"

#include <math.h>

static void check_back(struct money m) {
    struct err e = {0};
    struct money again = money_unknown();
    char *shown = xmalloc(32);
    money_format(m, shown);
    HOLDS(memchr(shown, '\0', 32) && fuzz_printable(shown), "%.32s", shown);
    HOLDS(money_parse(shown, &again, &e) == 0, "%s: %s", shown, e.text);
    HOLDS(strcmp(again.currency, m.currency) == 0, "%s came back in %s", shown, again.currency);
    /* four significant digits under 1, two decimals from 1 on, four significant digits from 1e15 on */
    double step = m.amount >= 1 && m.amount < 1e15 ? 0.00501 : m.amount * 0.000501;
    HOLDS(fabs(again.amount - m.amount) <= step + m.amount * 1e-15, "%s of %.17g", shown, m.amount);
    free(shown);
}

static void check_sums(struct money m) {
    struct err e = {0};
    struct money sum;
    HOLDS(money_add(m, m, &sum, &e) == 0, "%s", e.text);
    HOLDS(sum.amount == money_scale(m, 2).amount && strcmp(sum.currency, m.currency) == 0, "%g", sum.amount);
    struct money other = money_make(1, strcmp(m.currency, "CHF") == 0 ? "NOK" : "CHF");
    HOLDS(money_add(m, other, &sum, &e) != 0, "%s and %s", m.currency, other.currency);
    fuzz_check_error(&e, ERR_PARSE);
    HOLDS(strstr(e.text, m.currency) && strstr(e.text, other.currency), "%s", e.text);
}

static void check_money(const char *text) {
    struct err e = {0};
    struct money m = money_unknown();
    char one[16];
    if (money_parse(text, &m, &e) != 0) {
        fuzz_check_error(&e, ERR_PARSE);
        return;
    }
    HOLDS(isfinite(m.amount) && m.amount >= 0, "%g", m.amount);
    HOLDS(strlen(m.currency) == 3 && strspn(m.currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3, "%.4s",
          m.currency);
    struct money known;
    snprintf(one, sizeof one, "1 %s", m.currency);
    HOLDS(money_parse(one, &known, &e) == 0 && strcmp(known.currency, m.currency) == 0, "%s: %s", one,
          e.text);
    check_back(m);
    check_sums(m);
}

/* Of two lengths of a month the price an hour has their ratio, or the month is not in it. */
static void check_price(const char *text) {
    struct err e = {0};
    struct price p = {money_unknown()}, shorter = p;
    if (money_parse_price(text, MONEY_MONTH_HOURS, &p, &e) != 0) {
        fuzz_check_error(&e, ERR_PARSE);
        return;
    }
    HOLDS(strchr(text, '/') != NULL, "no unit of time: %s", text);
    HOLDS(money_is_price(p.per_hour.amount) && isfinite(p.per_hour.amount), "%g", p.per_hour.amount);
    check_back(p.per_hour);
    if (money_parse_price(text, 672, &shorter, &e) != 0)
        return;
    double ratio = shorter.per_hour.amount / p.per_hour.amount;
    HOLDS(ratio == 1 || fabs(ratio - MONEY_MONTH_HOURS / 672) < 1e-12, "%.17g", ratio);
    HOLDS(strcmp(shorter.per_hour.currency, p.per_hour.currency) == 0, "%s", shorter.per_hour.currency);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size);
    check_money(text);
    check_price(text);
    free(text);
    return 0;
}

#include "base/money.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MONEY_TEXT_SIZE = 32, AMOUNT_WORD_SIZE = 48 };

/* Symbols that name one currency in the catalogues' use: "$" is the US dollar there. */
static const struct {
    const char *symbol, *code;
} symbols[] = {{"$", "USD"}, {"\xE2\x82\xAC", "EUR"}, {"\xC2\xA3", "GBP"}};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

/* What people write for a currency that is no ISO 4217 code, and what to write instead. */
static const struct {
    const char *text, *mend;
} unclear[] = {
    {"\xC2\xA5", "the yen or yuan sign names two currencies; write as in 12.50 CNY or 1800 JPY"},
    {"\xEF\xBF\xA5", "the yen or yuan sign names two currencies; write as in 12.50 CNY or 1800 JPY"},
    {"\xE4\xB8\x87", "write the amount in digits, as in 20000 CNY"}, /* ten thousand, in Chinese */
    {"\xE5\x85\x83", "write the yuan as CNY, as in 12.50 CNY"},
    {"RMB", "write the yuan as CNY, as in 12.50 CNY"},
};

/* ISO 4217 active codes of states and unions. */
static const char iso_codes[] =
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF "
    "CHF "
    "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD "
    "HNL "
    "HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD "
    "MAD "
    "MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN "
    "PYG "
    "QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY "
    "TTD "
    "TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG ";

struct money money_make(double amount, const char *currency) {
    struct money m = {.amount = amount};
    memcpy(m.currency, currency, strnlen(currency, sizeof m.currency - 1));
    return m;
}

struct money money_unknown(void) {
    return money_make(NAN, "USD");
}

struct slice {
    const char *begin, *end;
};

static struct slice trim(struct slice s) {
    while (s.begin < s.end && (*s.begin == ' ' || *s.begin == '\t'))
        s.begin++;
    while (s.end > s.begin && (s.end[-1] == ' ' || s.end[-1] == '\t'))
        s.end--;
    return s;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes a currency's three letters or symbol off one end of s into code. */
static bool take_currency(struct slice *s, bool at_front, char code[4]) {
    size_t length = (size_t)(s->end - s->begin);
    for (size_t i = 0; i < SYMBOLS; i++) {
        size_t n = strlen(symbols[i].symbol);
        if (length < n || memcmp(at_front ? s->begin : s->end - n, symbols[i].symbol, n) != 0)
            continue;
        memcpy(code, symbols[i].code, 4);
        *(at_front ? &s->begin : &s->end) += at_front ? (ptrdiff_t)n : -(ptrdiff_t)n;
        return true;
    }
    const char *word = at_front ? s->begin : s->end - 3;
    if (length < 4 || !is_letter(word[0]) || !is_letter(word[1]) || !is_letter(word[2]))
        return false;
    for (int i = 0; i < 3; i++)
        code[i] = (char)(word[i] & ~0x20);
    code[3] = '\0';
    *(at_front ? &s->begin : &s->end) += at_front ? 3 : -3;
    return true;
}

static bool is_iso_code(const char *code) {
    const char *found = strstr(iso_codes, code);
    return found && (found - iso_codes) % 4 == 0;
}

static int check_habits(const char *text, struct err *e) {
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++)
        if (strcasestr(text, unclear[i].text))
            return err_set(e, ERR_PARSE, "\"%.60s\": %s", text, unclear[i].mend);
    return 0;
}

static int parse_slice(struct slice whole, struct money *out, struct err *e) {
    struct slice s = trim(whole);
    int shown = (int)(whole.end - whole.begin < 60 ? whole.end - whole.begin : 60);
    char code[4] = "USD", word[AMOUNT_WORD_SIZE];
    if (!take_currency(&s, true, code))
        take_currency(&s, false, code);
    if (!is_iso_code(code))
        return err_set(e, ERR_PARSE, "\"%.*s\": \"%s\" is no ISO 4217 currency; write as in 12.50 USD", shown,
                       whole.begin, code);
    s = trim(s);
    double amount;
    int length = snprintf(word, sizeof word, "%.*s", (int)(s.end - s.begin), s.begin);
    if (length >= (int)sizeof word || units_parse_number(word, &amount, e) != 0)
        return err_set(e, ERR_PARSE,
                       "\"%.*s\" is not an amount of money; write as in 12.50 USD, without "
                       "thousands separators",
                       shown, whole.begin);
    if (amount < 0)
        return err_set(e, ERR_PARSE, "\"%.*s\": an amount cannot be negative", shown, whole.begin);
    *out = money_make(amount, code);
    return 0;
}

int money_parse(const char *text, struct money *out, struct err *e) {
    return check_habits(text, e) ? -1 : parse_slice((struct slice){text, text + strlen(text)}, out, e);
}

/* Hours of a time unit; a negative figure counts months. */
static const struct {
    const char *name;
    double hours;
} time_units[] = {
    {"h", 1},   {"hr", 1},     {"hour", 1},   {"d", 24},  {"day", 24},       {"week", 168},
    {"mo", -1}, {"month", -1}, {"year", -12}, {"y", -12}, {"min", 1.0 / 60}, {"s", 1.0 / 3600},
};
enum { TIME_UNITS = sizeof time_units / sizeof *time_units };

int money_parse_price(const char *text, double month_hours, struct price *out, struct err *e) {
    const char *slash = strrchr(text, '/');
    if (!slash)
        return err_set(e, ERR_PARSE, "\"%.60s\" has no unit of time; write it as in 3.06/h or 5000 USD/month",
                       text);
    if (check_habits(text, e))
        return -1;
    struct slice unit = trim((struct slice){slash + 1, slash + strlen(slash)});
    char word[AMOUNT_WORD_SIZE];
    const char *names[TIME_UNITS];
    snprintf(word, sizeof word, "%.*s", (int)(unit.end - unit.begin), unit.begin);
    for (size_t i = 0; i < TIME_UNITS; i++) {
        names[i] = time_units[i].name;
        if (!text_equal_nocase(word, names[i]))
            continue;
        double hours = time_units[i].hours > 0 ? time_units[i].hours : -time_units[i].hours * month_hours;
        if (parse_slice((struct slice){text, slash}, &out->per_hour, e) != 0)
            return -1;
        out->per_hour.amount /= hours;
        if (!money_is_price(out->per_hour.amount))
            return err_set(e, ERR_PARSE, "\"%.60s\" is no price; leave it out when it is not known", text);
        return 0;
    }
    const char *nearest = text_nearest(word, names, TIME_UNITS);
    return err_set(e, ERR_PARSE,
                   "\"%.60s\": unknown unit of time \"%s\"; did you mean \"%s\"? (h, d, week, month, year)",
                   text, word, nearest ? nearest : "h");
}

bool money_is_price(double per_hour) {
    return per_hour >= 1e-9 && per_hour <= 1e12;
}

int money_add(struct money a, struct money b, struct money *out, struct err *e) {
    if (strcmp(a.currency, b.currency) != 0)
        return err_set(e, ERR_PARSE, "%s and %s do not add: give all prices in one currency", a.currency,
                       b.currency);
    *out = money_make(a.amount + b.amount, a.currency);
    return 0;
}

struct money money_scale(struct money m, double factor) {
    m.amount *= factor;
    return m;
}

/* Decimals that show four significant digits under 1, at least two. */
static int decimals_of(double amount) {
    if (amount == 0 || amount >= 1)
        return 2;
    return 3 - (int)floor(log10(amount));
}

char *money_format(struct money m, char *out) {
    if (isnan(m.amount))
        return memcpy(out, "-", 2);
    bool dollar = strcmp(m.currency, "USD") == 0;
    double size = fabs(m.amount);
    int used = snprintf(out, MONEY_TEXT_SIZE, "%s%s%s", m.amount < 0 ? "-" : "", dollar ? "$" : m.currency,
                        dollar ? "" : " ");
    char *number = out + used;
    size_t room = MONEY_TEXT_SIZE - (size_t)used;
    if (size >= 1e15 || (size > 0 && size < 1e-12)) {
        units_print(number, room, "%.3e", size);
        return out;
    }
    int length = units_print(number, room, "%.*f", decimals_of(size), size);
    const char *point = strchr(number, '.');
    while (number[length - 1] == '0' && number + length > point + 3)
        number[--length] = '\0';
    return out;
}

#include "reports/catalogue.h"
#include "reports/terms.h"

#include "base/units.h"

#include <ctype.h>
#include <string.h>

enum own_column {
    OWN_PROVIDER,
    OWN_SKU,
    OWN_DEVICE,
    OWN_DEVICE_COUNT,
    OWN_PRICE,
    OWN_REGION,
    OWN_CURRENCY,
    OWN_UNIT,
    OWN_TERM,
    OWN_GPU_MEMORY,
    OWN_VCPUS,
    OWN_MEMORY,
    OWN_OBSERVED,
    OWN_NOTE,
    OWN_COUNT
};

static const struct catalogue_column columns[OWN_COUNT] = {
    [OWN_PROVIDER] = {"provider", true},  [OWN_SKU] = {"sku", true},
    [OWN_DEVICE] = {"device", true},      [OWN_DEVICE_COUNT] = {"device_count", true},
    [OWN_PRICE] = {"price", true},        [OWN_REGION] = {"region", false},
    [OWN_CURRENCY] = {"currency", false}, [OWN_UNIT] = {"unit", false},
    [OWN_TERM] = {"term", false},         [OWN_GPU_MEMORY] = {"gpu_memory_gb", false},
    [OWN_VCPUS] = {"vcpus", false},       [OWN_MEMORY] = {"memory_gb", false},
    [OWN_OBSERVED] = {"observed", false}, [OWN_NOTE] = {"note", false},
};

static int read_currency(const char *text, struct money *one, struct err *e) {
    char amount[16];

    snprintf(amount, sizeof amount, "1 %.8s", text);
    if (strlen(text) != 3 || money_parse(amount, one, e) != 0) {
        return err_set(e, ERR_PARSE,
                       "currency: \"%.40s\" is no ISO 4217 code; write three letters, as in USD", text);
    }
    return 0;
}

/* "3.06", "3.06 USD", "$3.06/h", "5000 EUR/month"; a bare number has the currency column's currency. */
static int read_price(const char *text, const char *currency_text, struct money *out, struct err *e) {
    struct money one = money_make(1, "USD");
    double amount;
    struct price price;
    struct err not_bare;

    if (!text[0]) {
        return err_set(e, ERR_PARSE, "price: empty; write the price, or leave the row out");
    }
    if (currency_text[0] && read_currency(currency_text, &one, e) != 0) {
        return -1;
    }
    if (units_parse_number(text, &amount, &not_bare) == 0) {
        *out = money_make(amount, one.currency);
        return catalogue_price("price", text, &amount, e);
    }
    if (strchr(text, '/')) {
        if (money_parse_price(text, MONEY_MONTH_HOURS, &price, e) != 0) {
            return err_wrap(e, "price");
        }
        *out = price.per_hour;
    } else if (money_parse(text, out, e) != 0) {
        return err_wrap(e, "price");
    }
    if (!money_is_price(out->amount)) {
        return err_set(e, ERR_PARSE, "price: \"%.40s\" is no price; leave the row out when it is not known",
                       text);
    }
    if (currency_text[0] && strcmp(one.currency, out->currency) != 0) {
        return err_set(e, ERR_PARSE, "price: \"%.40s\" is in %s, but the currency column says %s; drop one",
                       text, out->currency, one.currency);
    }
    return 0;
}

/* Scales the price of one GPU to the node where the row asks for it. */
static int read_unit(const char *unit, int64_t device_count, struct money *price, const char **note,
                     struct err *e) {
    if (!unit[0] || strcmp(unit, "node-hour") == 0) {
        return 0;
    }
    if (strcmp(unit, "gpu-hour") != 0) {
        return err_set(e, ERR_PARSE, "unit: \"%.40s\" is not known; write \"node-hour\" or \"gpu-hour\"",
                       unit);
    }
    if (device_count == 0) {
        return err_set(e, ERR_PARSE, "unit: \"gpu-hour\" on a row without GPUs; write device_count");
    }
    *price = money_scale(*price, (double)device_count);
    if (!money_is_price(price->amount)) {
        return err_set(e, ERR_PARSE,
                       "price: %g %s an hour for %lld GPUs is no price; correct it, or the unit",
                       price->amount, price->currency, (long long)device_count);
    }
    *note = "quoted per GPU-hour";
    return 0;
}

static int read_observed(const char *text, struct err *e) {
    const char *shape = "dddd-dd-dd";

    /* the ends too: they meet as two NULs */
    for (size_t i = 0; text[0] && i <= strlen(shape); i++) {
        if (shape[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != shape[i]) {
            return err_set(e, ERR_PARSE, "observed: \"%.40s\" is no date; write YYYY-MM-DD", text);
        }
    }
    return 0;
}

static int read_numbers(const char *const *fields, struct catalogue_row *row, struct err *e) {
    if (catalogue_count("device_count", fields[OWN_DEVICE_COUNT], &row->said.count, e) != 0 ||
        catalogue_memory("gpu_memory_gb", fields[OWN_GPU_MEMORY], &row->said.said_bytes, e) != 0 ||
        catalogue_number("vcpus", fields[OWN_VCPUS], 0, &row->vcpus, e) != 0 ||
        catalogue_memory("memory_gb", fields[OWN_MEMORY], &row->host_memory_bytes, e) != 0) {
        return -1;
    }
    return 0;
}

static int check_device(const struct catalogue_row *row, struct err *e) {
    if (row->said.device[0] && row->said.count == 0) {
        return err_set(e, ERR_PARSE, "device_count: none for device \"%.40s\"; write how many a node has",
                       row->said.device);
    }
    if (!row->said.device[0] && row->said.count > 0) {
        return err_set(e, ERR_PARSE, "device: empty, but device_count is %lld; write which GPU",
                       (long long)row->said.count);
    }
    return 0;
}

static int read_row(struct catalogue_file *f, const char *const *fields, size_t line, struct err *e) {
    struct catalogue_row row = {
        .line = line,
        .provider = fields[OWN_PROVIDER],
        .region = fields[OWN_REGION],
        .observed = fields[OWN_OBSERVED],
        .note = fields[OWN_NOTE],
        .said = {.sku = fields[OWN_SKU], .device = fields[OWN_DEVICE]},
    };
    struct money price = money_unknown();
    enum term term = TERM_ON_DEMAND;

    if (!row.provider[0]) {
        return err_set(e, ERR_PARSE, "provider: empty; write who rents it out");
    }
    if (read_numbers(fields, &row, e) != 0 || check_device(&row, e) != 0 ||
        read_price(fields[OWN_PRICE], fields[OWN_CURRENCY], &price, e) != 0 ||
        read_unit(fields[OWN_UNIT], row.said.count, &price, &f->row_note, e) != 0 ||
        read_observed(row.observed, e) != 0) {
        return -1;
    }
    if (fields[OWN_TERM][0] && term_parse(fields[OWN_TERM], &term, e) != 0) {
        return err_wrap(e, "term");
    }
    catalogue_quote(f, &row, term, price);
    return 0;
}

const struct catalogue catalogue_own = {
    .name = "stepcost",
    .columns = columns,
    .column_count = OWN_COUNT,
    .json = true,
    .trusted = true,
    .read_row = read_row,
};

/* SkyPilot's vms.csv: one file a cloud, the cloud's name only in the file's name, price in USD an hour for
 * the whole instance. */
#include "reports/catalogue.h"
#include "reports/catalogue_split.h"
#include "reports/offer_merge.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum sky_column {
    SKY_INSTANCE,
    SKY_NAME,
    SKY_COUNT,
    SKY_PRICE,
    SKY_REGION,
    SKY_SPOT,
    SKY_VCPUS,
    SKY_MEMORY,
    SKY_GPU_INFO,
    SKY_ZONE,
    SKY_COLUMN_COUNT
};

static const struct catalogue_column columns[SKY_COLUMN_COUNT] = {
    [SKY_INSTANCE] = {"InstanceType", true},  [SKY_NAME] = {"AcceleratorName", true},
    [SKY_COUNT] = {"AcceleratorCount", true}, [SKY_PRICE] = {"Price", true},
    [SKY_REGION] = {"Region", true},          [SKY_SPOT] = {"SpotPrice", false},
    [SKY_VCPUS] = {"vCPUs", false},           [SKY_MEMORY] = {"MemoryGiB", false},
    [SKY_GPU_INFO] = {"GpuInfo", false},      [SKY_ZONE] = {"AvailabilityZone", false},
};

static const double mib = 1048576.0;

/* GpuInfo is the text of a Python dict, of JSON, or neither, by cloud: only the first number after the key
 * is taken from it. */
static double gpu_info_bytes(const char *info) {
    const char *at = strstr(info, "SizeInMiB");

    if (!at) {
        return NAN;
    }
    at += strlen("SizeInMiB");
    at += strspn(at, "'\": ");
    return isdigit((unsigned char)*at) ? (double)strtoull(at, NULL, 10) * mib : NAN;
}

static int read_numbers(const char *const *fields, struct catalogue_row *row, struct err *e) {
    if (catalogue_count("AcceleratorCount", fields[SKY_COUNT], &row->said.count, e) != 0 ||
        catalogue_number("vCPUs", fields[SKY_VCPUS], 0, &row->vcpus, e) != 0 ||
        catalogue_number("MemoryGiB", fields[SKY_MEMORY], 0, &row->host_memory_bytes, e) != 0) {
        return -1;
    }
    row->host_memory_bytes *= 1024.0 * mib;
    return 0;
}

static int check_device(const struct catalogue_row *row, struct err *e) {
    if (!row->said.sku[0] && !row->said.device[0]) {
        return err_set(e, ERR_PARSE, "InstanceType, AcceleratorName: both empty; write what is rented");
    }
    if (row->said.device[0] && row->said.count == 0) {
        return err_set(e, ERR_PARSE, "AcceleratorCount: none for \"%.40s\"; write how many a node has",
                       row->said.device);
    }
    if (!row->said.device[0] && row->said.count > 0) {
        return err_set(e, ERR_PARSE, "AcceleratorName: empty, but AcceleratorCount is %lld; write which GPU",
                       (long long)row->said.count);
    }
    return 0;
}

/* Vast writes 0.00 where it has no spot price, the others leave it empty. */
static int read_prices(const char *const *fields, double *on_demand, double *spot, struct err *e) {
    *on_demand = NAN;
    *spot = NAN;
    if (catalogue_number("SpotPrice", fields[SKY_SPOT], 0, spot, e) != 0 ||
        (fields[SKY_PRICE][0] && catalogue_price("Price", fields[SKY_PRICE], on_demand, e) != 0)) {
        return -1;
    }
    *spot = *spot > 0 ? *spot : NAN;
    if (isnan(*on_demand) && isnan(*spot)) {
        return err_set(e, ERR_PARSE, "Price, SpotPrice: no price in either; fill one, or leave the row out");
    }
    return 0;
}

static int read_row(struct catalogue_file *f, const char *const *fields, size_t line, struct err *e) {
    struct catalogue_row row = {
        .line = line,
        .provider = f->provider,
        .region = fields[SKY_REGION],
        .observed = "",
        .note = "",
        .said = {.sku = fields[SKY_INSTANCE],
                 .device = fields[SKY_NAME],
                 .said_bytes = gpu_info_bytes(fields[SKY_GPU_INFO])},
    };
    bool is_host = split_is_host(row.said.sku);
    double on_demand, spot;

    if (read_numbers(fields, &row, e) != 0 || check_device(&row, e) != 0 ||
        read_prices(fields, &on_demand, &spot, e) != 0) {
        return -1;
    }
    if (!row.said.sku[0] || is_host || split_is_n1(row.said.sku)) {
        split_add(f, &row, fields[SKY_ZONE], on_demand, spot);
    }
    if (!row.said.sku[0] || is_host) {
        return 0; /* half a machine: an offer when its other half is found */
    }
    if (!isnan(on_demand)) {
        catalogue_quote(f, &row, TERM_ON_DEMAND, money_make(on_demand, "USD"));
    }
    if (!isnan(spot)) {
        struct quote *q = catalogue_quote(f, &row, TERM_SPOT, money_make(spot, "USD"));

        q->spot_above_on_demand = spot > on_demand;
        q->spot_at_on_demand = !q->spot_above_on_demand && offers_same_price(spot, on_demand);
    }
    return 0;
}

const struct catalogue catalogue_skypilot = {
    .name = "skypilot",
    .columns = columns,
    .column_count = SKY_COLUMN_COUNT,
    .read_row = read_row,
    .finish = split_join,
};

/* Whole extracts of real catalogues: reports/data/prices. The counts were made apart from the
 * program, with Python's csv module over the raw files: a row is kept when its (InstanceType, Region,
 * accelerator, price) or, for spot, its (InstanceType, Region, accelerator) is new, else merged. */
#include "offers_fixture.h"

static void read_extract(struct fixture *f, const char *name) {
    char path[512];

    snprintf(path, sizeof path, "%s/../../reports/data/prices/%s", TEST_DATA, name);
    if (offers_read(&f->set, &f->gpus, path, &f->e) != 0) {
        fail_msg("%s", f->e.text);
    }
}

static size_t count_refused(const struct fixture *f, const char *part) {
    size_t count = 0;

    for (size_t i = 0; i < f->set.refusal_count; i++) {
        count += strstr(f->set.refusals[i].reason, part) != NULL;
    }
    return count;
}

static size_t count_noted(const struct fixture *f, const char *part) {
    size_t count = 0;

    for (size_t i = 0; i < f->set.count; i++) {
        count += strstr(f->set.offers[i].note, part) != NULL;
    }
    return count;
}

static double price_of(const struct fixture *f, const char *sku, const char *region, enum term term) {
    return offer_of(f, sku, region, term)->price.per_hour.amount;
}

/* 200 rows: 8 with 0.167, 8 with 0.333 and 8 with 0.5 of a GPU; 137 have an unquoted "V1,V2" at the end. */
static void azure_refuses_24_slices_and_reads_137_rows_with_a_surplus_field(void **state) {
    struct fixture *f = *state;

    read_extract(f, "skypilot_azure.csv");
    assert_account(f, 0, (const size_t[]){200, 176, 0, 24, 332});
    assert_int_equal(count_refused(f, "is a slice of a GPU"), 24);
    assert_string_equal(f->set.accounts[0].ignored, "Generation, surplus fields of 137 rows");
    assert_float_equal(price_of(f, "Standard_NC12s_v3", "eastus", TERM_ON_DEMAND), 6.12, 0);
    assert_float_equal(price_of(f, "Standard_NC12s_v3", "eastus", TERM_SPOT), 1.130976, 0);
}

/* 231 GPU rows, 188 hosts that are rented only with GPUs, 7 N1 hosts (all in us-central1-a). 185 hosts find
 * their GPUs (133 GPU rows) and 3 (a4) have a price of 0; 10 GPU rows (3 T4, 3 P4, 4 V100) stand in the zone
 * of the N1 hosts; 231 - 133 - 10 = 88 GPU rows have no host. Kept: 7 N1 hosts, 10 GPU rows on N1, and the
 * first of each (host, region): 76 = 93. */
static void gcp_sums_hosts_and_gpus(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_extract(f, "skypilot_gcp.csv");
    assert_account(f, 0, (const size_t[]){426, 93, 242, 91, 186});
    assert_int_equal(count_refused(f, "the price of a GPU without its host"), 88);
    assert_int_equal(count_refused(f, "zero is never free"), 3);
    o = offer_of(f, "a2-highgpu-8g", "us-central1", TERM_ON_DEMAND);
    assert_float_equal(o->price.per_hour.amount, 23.47126 + 5.91582, 1e-9); /* 29.38708 */
    assert_int_equal(o->device_count, 8);
    assert_int_equal(o->merged, 4);
    assert_float_equal(o->vcpus, 96, 0);
    assert_candidates(o, 1, (const char *const[]){"A100-SXM4-40GB"});
    assert_float_equal(price_of(f, "a2-highgpu-8g", "us-central1", TERM_SPOT), 11.4728 + 2.958, 1e-9);
    /* A100-80GB x 1: 1.8462 + 1.09962 */
    assert_float_equal(price_of(f, "a2-ultragpu-1g", "us-central1", TERM_ON_DEMAND), 2.94582, 1e-9);
    /* each size of host for one L4 is an offer of its own */
    offer_of(f, "g2-standard-4", "us-central1", TERM_ON_DEMAND);
    offer_of(f, "g2-standard-32", "us-central1", TERM_SPOT);
    for (size_t i = 0; i < f->set.count; i++) {
        o = &f->set.offers[i];
        /* the smallest of the seven N1 hosts: 0.1183; one T4: 0.35; two: 0.7 */
        if (strcmp(o->device, "T4") == 0 && o->term == TERM_ON_DEMAND && o->device_count < 4) {
            assert_string_equal(o->sku, "n1-highmem-2");
            assert_float_equal(o->price.per_hour.amount, 0.35 * (double)o->device_count + 0.1183, 1e-9);
        }
    }
}

static const char halves[] =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice\n";

static void assert_halves(struct fixture *f, const char *rows, const size_t want[5]) {
    char text[1024];

    snprintf(text, sizeof text, "%s%s", halves, rows);
    read_good(f, "gcp.csv", text);
    assert_account(f, f->set.account_count - 1, want);
}

static void halves_that_do_not_fit_are_refused_each_with_its_line(void **state) {
    struct fixture *f = *state;

    /* another zone */
    assert_halves(f, ",,,A100,8,r,r-a,23,11\na2-highgpu-8g,96,680,,,r,r-b,5,2\n",
                  (const size_t[]){2, 0, 0, 2, 0});
    assert_int_equal(f->set.refusals[0].line, 2);
    assert_int_equal(f->set.refusals[1].line, 3);
    /* the same GPU twice: once at the same price, once at another */
    assert_halves(f,
                  ",,,A100,8,r,r-a,23,\n,,,A100,8,r,r-a,23,\n,,,A100,8,r,r-a,25,\n"
                  "a2-highgpu-8g,96,680,,,r,r-a,5,2\n",
                  (const size_t[]){4, 1, 2, 1, 1});
    assert_float_equal(price_of(f, "a2-highgpu-8g", "r", TERM_ON_DEMAND), 28, 0);
    /* one V100 takes no more than 12 vCPUs */
    assert_halves(f, ",,,V100,1,q,q-a,2,\nn1-highmem-16,16,104,,,q,q-a,0.9,\n",
                  (const size_t[]){2, 1, 0, 1, 1});
}

/* 51 rows; spot is the on-demand price in all of them; GB stand in the MiB field. */
static void runpod_has_no_spot_discount(void **state) {
    struct fixture *f = *state;

    read_extract(f, "skypilot_runpod.csv");
    assert_account(f, 0, (const size_t[]){51, 39, 12, 0, 78});
    assert_int_equal(count_noted(f, "spot equals on-demand"), 39);
}

/* 26 rows, 5 of them CPUs with a count of 0. */
static void nebius_offers_one_gpu_count_at_several_host_sizes(void **state) {
    struct fixture *f = *state;

    read_extract(f, "skypilot_nebius.csv");
    assert_account(f, 0, (const size_t[]){26, 26, 0, 0, 34});
    assert_float_equal(price_of(f, "gpu-h100-sxm_8gpu-128vcpu-1600gb", "eu-north1", TERM_ON_DEMAND), 23.6, 0);
    assert_float_equal(price_of(f, "gpu-h100-sxm_8gpu-128vcpu-1600gb", "eu-north1", TERM_SPOT), 10, 0);
}

/* Bid floors as prices: $1.00 for an H100 and an H200, where the lowest real ones are 1.80 and 2.35.
 * Nebius' 2.95 is a price, and so is its spot of 1.25. */
static void mithrils_bid_floors_are_implausible_and_nebius_prices_are_not(void **state) {
    struct fixture *f = *state;

    read_extract(f, "skypilot_mithril.csv");
    assert_account(f, 0, (const size_t[]){4, 4, 0, 0, 8});
    for (size_t i = 0; i < f->set.count; i++) {
        assert_true(f->set.offers[i].implausible);
    }
    assert_int_equal(count_noted(f, "implausible price"), 8);
    read_extract(f, "skypilot_nebius.csv");
    read_extract(f, "skypilot_azure.csv");
    read_extract(f, "skypilot_gcp.csv");
    assert_int_equal(count_noted(f, "implausible price"), 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(azure_refuses_24_slices_and_reads_137_rows_with_a_surplus_field),
        FIXTURE_TEST(gcp_sums_hosts_and_gpus),
        FIXTURE_TEST(halves_that_do_not_fit_are_refused_each_with_its_line),
        FIXTURE_TEST(runpod_has_no_spot_discount),
        FIXTURE_TEST(mithrils_bid_floors_are_implausible_and_nebius_prices_are_not),
        FIXTURE_TEST(nebius_offers_one_gpu_count_at_several_host_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

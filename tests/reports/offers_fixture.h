/* What the tests of catalogues share: the GPU table, catalogues from text, and looking offers up. */
#ifndef TESTS_REPORTS_OFFERS_FIXTURE_H
#define TESTS_REPORTS_OFFERS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    struct gpu_table gpus;
    struct offer_set set;
    struct err e;
    char folder[64];
    char path[192]; /* of the file written last */
};

static inline int fixture_open(void **state) {
    struct fixture *f = xcalloc(1, sizeof *f);
    const struct data data = {NULL};

    if (gpu_table_load(&data, &f->gpus, &f->e) != 0) {
        print_error("%s\n", f->e.text);
        return -1;
    }
    snprintf(f->folder, sizeof f->folder, "/tmp/stepcost-offers-XXXXXX");
    *state = f;
    return mkdtemp(f->folder) ? 0 : -1;
}

static inline int fixture_close(void **state) {
    struct fixture *f = *state;

    unlink(f->path);
    rmdir(f->folder);
    offers_free(&f->set);
    gpu_table_free(&f->gpus);
    free(f);
    return 0;
}

/* Reads length bytes as a file of that name; what offers_read returns. */
static inline int read_bytes(struct fixture *f, const char *name, const char *bytes, size_t length) {
    FILE *out;

    if (f->path[0]) {
        unlink(f->path);
    }
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, name);
    out = fopen(f->path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
    return offers_read(&f->set, &f->gpus, f->path, &f->e);
}

static inline int read_text(struct fixture *f, const char *name, const char *text) {
    return read_bytes(f, name, text, strlen(text));
}

static inline void read_good(struct fixture *f, const char *name, const char *text) {
    if (read_text(f, name, text) != 0) {
        fail_msg("%s", f->e.text);
    }
}

/* The only offer of this SKU (and region and term): fails when there is none or more than one. */
static inline const struct offer *offer_of(const struct fixture *f, const char *sku, const char *region,
                                           enum term term) {
    const struct offer *found = NULL;

    for (size_t i = 0; i < f->set.count; i++) {
        const struct offer *o = &f->set.offers[i];

        if (strcmp(o->sku, sku) == 0 && strcmp(o->region, region) == 0 && o->term == term) {
            if (found) {
                fail_msg("two offers of %s in %s", sku, region);
            }
            found = o;
        }
    }
    if (!found) {
        fail_msg("no offer of %s in %s", sku, region);
    }
    return found;
}

static inline void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) {
        fail_msg("\"%s\" does not say \"%s\"", text, part);
    }
}

/* The candidates' names, joined by commas, in any order given by the table. */
static inline void assert_candidates(const struct offer *o, size_t count, const char *const *names) {
    assert_int_equal(o->match->count, count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;

        for (size_t j = 0; j < count; j++) {
            found = found || strcmp(o->match->candidates[j]->name, names[i]) == 0;
        }
        if (!found) {
            fail_msg("%s is not among the candidates of %s", names[i], o->sku);
        }
    }
}

static inline void assert_account(const struct fixture *f, size_t index, const size_t want[5]) {
    const struct offer_account *a = &f->set.accounts[index];

    assert_true(index < f->set.account_count);
    assert_int_equal(a->rows_read, want[0]);
    assert_int_equal(a->rows_kept, want[1]);
    assert_int_equal(a->rows_merged, want[2]);
    assert_int_equal(a->rows_refused, want[3]);
    assert_int_equal(a->offers, want[4]);
    assert_int_equal(a->rows_read, a->rows_kept + a->rows_merged + a->rows_refused);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

#endif

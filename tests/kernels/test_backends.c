#include "kernels/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ctest sets STEPCOST_MODULES to the build folder; each test that changes it puts it back. */
static void with_modules(const char *folder, const char *name, struct err *e) {
    const char *old = getenv("STEPCOST_MODULES");
    char *kept = old ? strdup(old) : NULL;
    setenv("STEPCOST_MODULES", folder, 1);
    assert_null(backend_find(name, e));
    if (kept)
        setenv("STEPCOST_MODULES", kept, 1);
    else
        unsetenv("STEPCOST_MODULES");
    free(kept);
}

static void lists_its_names_and_finds_each(void **state) {
    (void)state;
    struct err e = {0};
    size_t count = 0;
    for (; backend_name(count); count++) {
        const struct backend *b = backend_find(backend_name(count), &e);
        if (!b)
            fail_msg("%s", e.text);
        assert_string_equal(b->name, backend_name(count));
        assert_int_equal(b->abi, BACKEND_ABI);
        assert_ptr_equal(backend_find(backend_name(count), &e), b);
    }
    assert_int_equal(count, 4);
}

static void fills_every_mandatory_slot(void **state) {
    (void)state;
    struct err e = {0};
    for (size_t i = 0; backend_name(i); i++) {
        const struct backend *b = backend_find(backend_name(i), &e);
        assert_non_null(b);
        assert_true(b->summary && b->count && b->open && b->close && b->describe && b->telemetry);
        assert_true(b->alloc && b->free && b->fill && b->write && b->read);
        assert_true(b->supports && b->prepare && b->release && b->queue_open && b->queue_close);
        assert_true(b->event_open && b->event_close && b->enqueue && b->record && b->wait && b->sync);
        assert_non_null(b->elapsed);
        b->close(NULL);
        b->free(NULL);
        b->release(NULL);
        b->queue_close(NULL);
        b->event_close(NULL);
    }
}

static void offers_the_nearest_name(void **state) {
    (void)state;
    struct err e = {0};
    assert_null(backend_find("cpuu", &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "did you mean cpu?"));
    assert_null(backend_find("abacus", &e));
    assert_non_null(strstr(e.text, "there are cpu, sim, ref, disk"));
    assert_null(strstr(e.text, "did you mean"));
}

static void names_the_module_that_is_missing(void **state) {
    (void)state;
    struct err e = {0};
    char folder[] = "/tmp/stepcost-no-modules-XXXXXX";
    assert_non_null(mkdtemp(folder));
    with_modules(folder, "cpu", &e);
    assert_int_equal(e.code, ERR_DEVICE);
    assert_non_null(strstr(e.text, folder));
    assert_non_null(strstr(e.text, "stepcost-cpu.so"));
    assert_non_null(strstr(e.text, "STEPCOST_MODULES"));
    rmdir(folder);
}

static void says_why_a_module_does_not_load(void **state) {
    (void)state;
    struct err e = {0};
    char folder[] = "/tmp/stepcost-bad-modules-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/stepcost-cpu.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("not a shared object\n", file);
    fclose(file);
    with_modules(folder, "cpu", &e);
    assert_int_equal(e.code, ERR_DEVICE);
    assert_non_null(strstr(e.text, "does not load"));
    unlink(path);
    rmdir(folder);
}

static void refuses_a_module_of_another_abi(void **state) {
    (void)state;
    struct err e = {0};
    with_modules(ALIEN_MODULES, "cpu", &e);
    assert_int_equal(e.code, ERR_DEVICE);
    assert_non_null(strstr(e.text, "ABI 99"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_its_names_and_finds_each),  cmocka_unit_test(fills_every_mandatory_slot),
        cmocka_unit_test(offers_the_nearest_name),         cmocka_unit_test(names_the_module_that_is_missing),
        cmocka_unit_test(says_why_a_module_does_not_load), cmocka_unit_test(refuses_a_module_of_another_abi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

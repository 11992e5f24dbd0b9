#include "tests/model/folder.h"

#include "model/data.h"

static void finds_the_embedded_files(void **state) {
    (void)state;
    static const struct {
        const char *name, *begin;
    } rows[] = {
        {"gpus.csv", "gpu,field,value,source,verified\n"},
        {"aliases.csv", "alias,gpu,kind,source\n"},
        {"workloads/gpt2-124m.json", "{\n  \"name\": \"gpt2-124m\""},
        {"prices/skypilot_aws.csv", "InstanceType,"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct data_blob blob;
        struct err e;
        assert_ok(data_load(NULL, rows[i].name, &blob, &e), &e);
        assert_string_equal(blob.name, rows[i].name);
        assert_memory_equal(blob.bytes, rows[i].begin, strlen(rows[i].begin));
        assert_int_equal(blob.bytes[blob.length], 0);
        assert_null(blob.owned);
        data_release(&blob);
    }
}

/* The embedded bytes against the file that the build took them from. */
static void embeds_every_byte(void **state) {
    (void)state;
    struct data source = {TEST_DATA "/../../model/data"};
    struct data_blob embedded, file;
    struct err e;
    assert_ok(data_load(NULL, "gpus.csv", &embedded, &e), &e);
    assert_ok(data_load(&source, "gpus.csv", &file, &e), &e);
    assert_non_null(file.owned);
    assert_int_equal(embedded.length, file.length);
    assert_memory_equal(embedded.bytes, file.bytes, file.length);
    data_release(&file);
}

static void a_file_in_the_folder_stands_before_the_embedded_one(void **state) {
    (void)state;
    struct folder folder;
    struct data data = {folder.path};
    struct data_blob blob;
    struct err e;
    folder_make(&folder);
    folder_write(&folder, "gpus.csv", "mine\n");
    assert_ok(data_load(&data, "gpus.csv", &blob, &e), &e);
    assert_string_equal(blob.bytes, "mine\n");
    assert_int_equal(blob.length, 5);
    assert_non_null(strstr(blob.name, folder.path)); /* errors name the file that was read */
    data_release(&blob);
    assert_ok(data_load(&data, "aliases.csv", &blob, &e), &e);
    assert_null(blob.owned);
    folder_remove(&folder);
}

static void a_missing_folder_is_an_error_and_not_the_embedded_file(void **state) {
    (void)state;
    struct data data = {"/nowhere/at/all"};
    struct data_blob blob;
    struct err e;
    assert_int_equal(data_load(&data, "gpus.csv", &blob, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "/nowhere/at/all");
    data_release(&blob);
}

static void an_unknown_file_is_named(void **state) {
    (void)state;
    struct data_blob blob;
    struct err e;
    assert_int_equal(data_load(NULL, "gpu.csv", &blob, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "gpu.csv");
    data_release(&blob);
    data_release(NULL);
}

static void a_folder_in_a_files_place_is_an_error(void **state) {
    (void)state;
    struct folder folder;
    struct data data = {folder.path};
    struct data_blob blob;
    struct err e;
    folder_make(&folder);
    folder_write(&folder, "gpus.csv/x", "");
    assert_int_equal(data_load(&data, "gpus.csv", &blob, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "gpus.csv");
    folder_remove(&folder);
}

static void lists_embedded_names_by_prefix(void **state) {
    (void)state;
    assert_string_equal(data_embedded_name("workloads/", 0), "workloads/bert-large.json");
    size_t prices = 0;
    while (data_embedded_name("prices/", prices))
        prices++;
    assert_true(prices >= 3);
    assert_null(data_embedded_name("nothing/", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_embedded_files),
        cmocka_unit_test(embeds_every_byte),
        cmocka_unit_test(a_file_in_the_folder_stands_before_the_embedded_one),
        cmocka_unit_test(a_missing_folder_is_an_error_and_not_the_embedded_file),
        cmocka_unit_test(an_unknown_file_is_named),
        cmocka_unit_test(a_folder_in_a_files_place_is_an_error),
        cmocka_unit_test(lists_embedded_names_by_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/base/fake_root.h"

#include "kernels/library_search.h"

#include <elf.h>

#if defined __x86_64__
enum { OWN = EM_X86_64, OTHER = EM_AARCH64 };
#else
enum { OWN = EM_AARCH64, OTHER = EM_X86_64 };
#endif

/* The first 20 bytes of an ELF file decide: magic, class at 4, machine at 18 (System V ABI, chapter 4). */
static void put_library(const struct fake_root *root, const char *path, int class, int machine,
                        const char *text) {
    unsigned char bytes[200000] = {0x7f, 'E', 'L', 'F'};
    bytes[4] = (unsigned char)class;
    bytes[18] = (unsigned char)machine;
    strcpy((char *)bytes + 131070 - 4, text); /* across a block's end */
    fake_root_bytes(root, path, bytes, sizeof bytes);
}

static void put_own(const struct fake_root *root, const char *path) {
    put_library(root, path, ELFCLASS64, OWN, "");
}

static void clear_environment(void) {
    static const char *const names[] = {"LD_LIBRARY_PATH", "CUDA_HOME",    "CUDA_PATH",
                                        "VIRTUAL_ENV",     "CONDA_PREFIX", "HOME"};
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
}

/* One library in each place, the last first; with each one added it is the one that is found. */
static void places_win_in_the_order_of_the_table(void **state) {
    (void)state;
    static const struct {
        const char *path, *variable, *value, *place;
    } rows[] = {
        {"/usr/lib/wsl/lib/libcublasLt.so.12", NULL, NULL, "WSL"},
        {"/usr/lib/x86_64-linux-gnu/libcublasLt.so.12.1.0", NULL, NULL, "distribution"},
        {"/home/u/.local/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12", "HOME", "/home/u",
         "user wheels"},
        {"/usr/local/lib/python3.10/dist-packages/nvidia/cublas/lib/libcublasLt.so.12", NULL, NULL,
         "system wheels"},
        {"/opt/conda/lib/libcublasLt.so.12", "CONDA_PREFIX", "/opt/conda", "conda"},
        {"/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13", "VIRTUAL_ENV", "/venv",
         "VIRTUAL_ENV"},
        {"/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/math_libs/lib64/libcublasLt.so.12", NULL, NULL, "toolkit"},
        {"/usr/local/cuda-12.4/lib64/libcublasLt.so.12.4.5.8", NULL, NULL, "toolkit"},
        {"/a/lib64/libcublasLt.so.12", "CUDA_PATH", "/a", "CUDA_PATH"},
        {"/b/targets/sbsa-linux/lib/libcublasLt.so.12", "CUDA_HOME", "/b", "CUDA_HOME"},
        {"/d/libcublasLt.so.11", "LD_LIBRARY_PATH", "relative:/c:/d", "LD_LIBRARY_PATH"},
        {"/c/libcublasLt.so.12", NULL, NULL, "LD_LIBRARY_PATH"},
    };
    struct library found;
    struct err e;
    struct fake_root root = fake_root_make();
    clear_environment();
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_own(&root, rows[i].path);
        if (rows[i].variable)
            setenv(rows[i].variable, rows[i].value, 1);
        assert_ok(library_find(root.path, "cublasLt", &found, &e), &e);
        assert_string_equal(found.path, rows[i].path);
        assert_string_equal(found.place, rows[i].place);
    }
    struct library_list all;
    library_list_read(root.path, "cublasLt", &all);
    assert_int_equal(all.count, COUNT(rows));
    library_list_free(&all);
    clear_environment();
    fake_root_remove(&root);
}

/* The links of a package are one file, and the newest of two versions comes first. */
static void links_are_one_file_and_the_newest_is_first(void **state) {
    (void)state;
    struct library_list all;
    struct fake_root root = fake_root_make();
    clear_environment();
    put_own(&root, "/usr/local/cuda-12.4/lib64/libcublasLt.so.12.4.5.8");
    fake_root_link(&root, "/usr/local/cuda-12.4/lib64/libcublasLt.so.12", "libcublasLt.so.12.4.5.8");
    fake_root_link(&root, "/usr/local/cuda-12.4/lib64/libcublasLt.so", "libcublasLt.so.12");
    fake_root_link(&root, "/usr/local/cuda", "cuda-12.4");
    put_own(&root, "/usr/local/cuda-12.4/lib64/libcublasLt.so.9.2");
    put_own(&root, "/usr/local/cuda-12.4/lib64/libcublasLt.sonnet");
    library_list_read(root.path, "cublasLt", &all);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.items[0].path, "/usr/local/cuda-12.4/lib64/libcublasLt.so.12.4.5.8");
    assert_string_equal(all.items[0].version, "12.4.5.8");
    assert_string_equal(all.items[1].version, "9.2");
    library_list_free(&all);
    put_own(&root, "/usr/local/cuda-12.4/lib64/libcudnn.so.9.1");
    put_own(&root, "/usr/local/cuda-12.4/lib64/libcudnn.so.10.0");
    library_list_read(root.path, "cudnn", &all);
    assert_string_equal(all.items[0].version, "10.0");
    library_list_free(&all);
    fake_root_remove(&root);
}

static void what_does_not_fit_is_listed_and_never_chosen(void **state) {
    (void)state;
    struct library found;
    struct library_list all;
    struct err e;
    struct fake_root root = fake_root_make();
    clear_environment();
    put_library(&root, "/usr/lib/i386-linux-gnu/libnccl.so.2.20", ELFCLASS32, EM_386, "");
    put_library(&root, "/usr/lib64/libnccl.so.2.21", ELFCLASS64, OTHER, "");
    fake_root_put(&root, "/usr/lib/libnccl.so", "INPUT(-lnccl_static)\n");
    assert_int_equal(library_find(root.path, "nccl", &found, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "/usr/lib64/libnccl.so.2.21 is for another machine");
    assert_error(&e, ERR_NOT_FOUND, "libnccl.so.2.20 is for 32 bit");
    assert_error(&e, ERR_NOT_FOUND, "LD_LIBRARY_PATH");
    put_own(&root, "/usr/lib/wsl/lib/libnccl.so.2");
    assert_ok(library_find(root.path, "nccl", &found, &e), &e);
    assert_string_equal(found.place, "WSL");
    library_list_read(root.path, "nccl", &all);
    assert_int_equal(all.count, 4);
    library_list_free(&all);
    assert_int_equal(library_find(root.path, "cublasMt", &found, &e), -1);
    assert_error(&e, ERR_USAGE, "cublasMt");
    fake_root_remove(&root);
}

static void versions_come_from_the_text_inside_or_the_wheel(void **state) {
    (void)state;
    static const char packages[] = "/venv/lib/python3.12/site-packages";
    struct library found;
    struct err e;
    char path[200];
    struct fake_root root = fake_root_make();
    clear_environment();
    setenv("VIRTUAL_ENV", "/venv", 1);
    put_library(&root, "/usr/lib64/libnccl.so.2", ELFCLASS64, OWN, "NCCL version 2.20.5+cuda12.4");
    assert_ok(library_find(root.path, "nccl", &found, &e), &e);
    assert_string_equal(found.version, "2.20.5");
    snprintf(path, sizeof path, "%s/nvidia/cublas/lib/libcublasLt.so.12", packages);
    put_own(&root, path);
    assert_ok(library_find(root.path, "cublasLt", &found, &e), &e);
    assert_string_equal(found.version, "12");
    snprintf(path, sizeof path, "%s/nvidia_cublas_cu12-12.1.3.1.dist-info/METADATA", packages);
    fake_root_put(&root, path, "");
    assert_ok(library_find(root.path, "cublasLt", &found, &e), &e);
    assert_string_equal(found.version, "12.1.3.1");
    clear_environment();
    fake_root_remove(&root);
}

/* Two entries behind a header of 48 bytes (24 bytes each), then the texts: the offsets are worked out by
 * hand. */
static void entries_of_the_loaders_cache_are_found(void **state) {
    (void)state;
    unsigned char cache[400] = "glibc-ld.so.cache1.1";
    static const char texts[] = "libc.so.6\0/lib/libc.so.6\0libcuda.so.1\0/odd/place/libcuda.so.1";
    struct library found;
    struct err e;
    struct fake_root root = fake_root_make();
    clear_environment();
    cache[20] = 2;
    cache[48 + 4] = 96, cache[48 + 8] = 96 + 10;
    cache[72 + 4] = 96 + 25, cache[72 + 8] = 96 + 38;
    memcpy(cache + 96, texts, sizeof texts);
    fake_root_bytes(&root, "/etc/ld.so.cache", cache, 96 + sizeof texts);
    put_own(&root, "/odd/place/libcuda.so.1");
    assert_ok(library_find(root.path, "cuda", &found, &e), &e);
    assert_string_equal(found.path, "/odd/place/libcuda.so.1");
    assert_string_equal(found.place, "ld.so.cache");
    cache[48 + 5] = 0xff, cache[72 + 5] = 0xff, cache[22] = 0xff; /* offsets and a count past the end */
    fake_root_bytes(&root, "/etc/ld.so.cache", cache, 96 + sizeof texts);
    assert_int_equal(library_find(root.path, "cuda", &found, &e), -1);
    fake_root_remove(&root);
}

static void finds_the_toolkit_of_this_machine(void **state) {
    (void)state;
    struct library found;
    struct err e;
    clear_environment();
    if (access("/usr/local/cuda/lib64/libcublasLt.so", R_OK) != 0) {
        print_message("skipped: no /usr/local/cuda/lib64/libcublasLt.so on this machine\n");
        skip();
    }
    assert_ok(library_find("", "cublasLt", &found, &e), &e);
    char *real = realpath("/usr/local/cuda/lib64/libcublasLt.so", NULL);
    assert_string_equal(found.path, real);
    assert_string_equal(found.place, "toolkit");
    free(real);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_win_in_the_order_of_the_table),
        cmocka_unit_test(links_are_one_file_and_the_newest_is_first),
        cmocka_unit_test(what_does_not_fit_is_listed_and_never_chosen),
        cmocka_unit_test(versions_come_from_the_text_inside_or_the_wheel),
        cmocka_unit_test(entries_of_the_loaders_cache_are_found),
        cmocka_unit_test(finds_the_toolkit_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

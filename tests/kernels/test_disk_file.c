#include "kernels/disk/disk_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

static void at_most_a_twentieth_four_gigabytes_and_the_file_limit_may_be_written(void **state) {
    (void)state;
    assert_int_equal(disk_allowance(1000, UINT64_MAX), 50);
    assert_int_equal(disk_allowance(UINT64_MAX, UINT64_MAX), 4000000000U);
    assert_int_equal(disk_allowance(1000, 7), 7);
    assert_int_equal(disk_allowance(0, UINT64_MAX), 0);
}

static void the_systems_tar_reads_the_archive(void **state) {
    (void)state;
    unsigned char archive[4 * TAR_BLOCK] = {0};
    struct err e = {0};
    assert_int_equal(tar_header("a/0001", 5, archive, &e), 0);
    memcpy(archive + TAR_BLOCK, "hello", 5);
    char path[] = "/tmp/stepcost-test-XXXXXX", command[96], line[32] = "";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, archive, sizeof archive), sizeof archive);
    close(fd);
    snprintf(command, sizeof command, "tar -xOf %s a/0001", path);
    FILE *out = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, out));
    assert_int_equal(pclose(out), 0);
    unlink(path);
    assert_string_equal(line, "hello");
}

static void a_size_that_ustar_cannot_hold_is_refused(void **state) {
    (void)state;
    unsigned char block[TAR_BLOCK];
    struct err e = {0};
    assert_int_equal(tar_header("a", (uint64_t)1 << 33, block, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
}

static void a_file_in_memory_never_turns_cold(void **state) {
    (void)state;
    char path[] = "/dev/shm/stepcost-test-XXXXXX", bytes[8192] = {1};
    int fd = mkstemp(path);
    if (fd < 0)
        skip();
    unlink(path);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    uint64_t resident = 0;
    struct err e = {0};
    assert_int_equal(disk_drop(fd, &resident, &e), 0);
    close(fd);
    assert_int_equal(resident,
                     (sizeof bytes + (size_t)sysconf(_SC_PAGESIZE) - 1) / (size_t)sysconf(_SC_PAGESIZE));
}

static void a_dropped_file_on_a_local_disk_is_cold(void **state) {
    (void)state;
    char path[] = "stepcost-test-XXXXXX", bytes[8192] = {1};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    struct statfs where;
    assert_int_equal(fstatfs(fd, &where), 0);
    if (where.f_type != EXT4_SUPER_MAGIC && where.f_type != XFS_SUPER_MAGIC) {
        print_message("the build's folder is neither on ext4 nor on xfs\n");
        close(fd);
        skip();
    }
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    uint64_t resident = 1;
    struct err e = {0};
    assert_int_equal(disk_drop(fd, &resident, &e), 0);
    close(fd);
    assert_int_equal(resident, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_most_a_twentieth_four_gigabytes_and_the_file_limit_may_be_written),
        cmocka_unit_test(the_systems_tar_reads_the_archive),
        cmocka_unit_test(a_size_that_ustar_cannot_hold_is_refused),
        cmocka_unit_test(a_dropped_file_on_a_local_disk_is_cold),
        cmocka_unit_test(a_file_in_memory_never_turns_cold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

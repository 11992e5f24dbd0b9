/* The folder as a device: each op against the oracle, what it leaves out of its time, and what it leaves
 * behind. */
#include "kernels/disk/disk.h"
#include "kernels/disk/disk_content.h"
#include "kernels/disk/disk_file.h"
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the build folder: /tmp may be memory. */
static int make_folder(void **state) {
    char *folder = strdup("disk-test-XXXXXX");
    *state = mkdtemp(folder);
    return *state == NULL;
}

static size_t entries(const char *folder) {
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int remove_folder(void **state) {
    int result = rmdir(*state); /* only an empty one can go */
    free(*state);
    return result;
}

static void open_folder(struct rig *r, const char *folder) {
    struct err e = {0};
    struct backend_config config = {.folder = folder};
    *r = (struct rig){.backend = &disk_backend};
    if (disk_backend.open(&config, 0, &r->device, &e))
        fail_msg("%s", e.text);
    assert_int_equal(disk_backend.queue_open(r->device, &r->queue, &e), 0);
    assert_int_equal(disk_backend.event_open(r->device, &r->from, &e), 0);
    assert_int_equal(disk_backend.event_open(r->device, &r->to, &e), 0);
}

/* Whole pages and odd sizes; passes that end in the middle and go round; a depth that does not divide. */
static const struct {
    enum op_kind kind;
    int64_t count, bytes, of, depth;
} ops[] = {
    {OP_FILE_WRITE, 5, 65536, 1, 1},
    {OP_FILE_WRITE, 7, 1000, 1, 1},
    {OP_FILE_READ, 5, 65536, 8, 1},
    {OP_FILE_READ, 3, 1004, 3, 1},
    {OP_FILE_RANDOM_READ, 100, 4096, 300, 1},
    {OP_FILE_RANDOM_READ, 100, 4096, 300, 7},
    {OP_FILE_RANDOM_READ, 3, 4, 1000, 3},
    {OP_FILE_SYNC, 4, 4096, 1, 1},
    {OP_FILE_SYNC, 3, 12, 1, 1},
    {OP_FILE_SMALL, 7, 10000, 20, 1},
    {OP_FILE_SMALL, 1, 4, 1, 1},
    {OP_FILE_TAR, 7, 10000, 20, 1},
    {OP_FILE_TAR, 300, 512, 301, 1},
};

static void every_block_of_every_pass_is_as_it_was_written(void **state) {
    struct rig r;
    open_folder(&r, *state);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct op op = op_file(ops[i].kind, ops[i].count, ops[i].bytes, ops[i].of, ops[i].depth);
        struct rig_op o;
        char name[OP_NAME_SIZE];
        rig_prepare(&r, &op, FILL_NORMAL, &o);
        assert_int_equal(o.operands[1].elements, ops[i].count);
        for (int pass = 0; pass < 5; pass++)
            if (rig_wrong_elements(&r, &o, 1))
                fail_msg("%s: wrong in pass %d", op_name(&op, name), pass);
        rig_release(&r, &o);
    }
    rig_close(&r);
    assert_int_equal(entries(*state), 0);
}

/* Someone writes over a file between two passes; only the small ones have a name. */
static void contents_that_changed_are_seen(void **state) {
    struct rig r;
    struct rig_op o;
    struct op op = op_file(OP_FILE_SMALL, 10, 400, 10, 1);
    open_folder(&r, *state);
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    assert_int_equal(rig_wrong_elements(&r, &o, 1), 0);
    char path[200], zeros[400] = {0};
    snprintf(path, sizeof path, "%s/%s/000003", (const char *)*state, r.device->scratch.name);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, zeros, sizeof zeros), sizeof zeros);
    close(fd);
    assert_int_equal(rig_wrong_elements(&r, &o, 1), 1);
    rig_release(&r, &o);
    rig_close(&r);
}

static void a_file_that_is_cut_is_an_error(void **state) {
    struct rig r;
    struct rig_op o;
    struct err e;
    struct op op = op_file(OP_FILE_SMALL, 10, 400, 10, 1);
    char path[200];
    open_folder(&r, *state);
    rig_prepare(&r, &op, FILL_NORMAL, &o);
    snprintf(path, sizeof path, "%s/%s/000003", (const char *)*state, r.device->scratch.name);
    assert_int_equal(truncate(path, 396), 0);
    assert_int_equal(disk_backend.enqueue(r.queue, o.prepared, 1, &e), -1);
    assert_non_null(strstr(e.text, "4 bytes early"));
    rig_release(&r, &o);
    rig_close(&r);
}

static void two_blocks_and_two_seeds_share_nothing(void **state) {
    unsigned char one[4096], two[4096];
    (void)state;
    disk_fill(1, 0, sizeof one, one);
    disk_fill(1, 1, sizeof two, two);
    assert_int_equal(disk_check(1, 77, 0, sizeof one, one), 77);
    assert_int_not_equal(disk_check(1, 77, 1, sizeof one, one), 77);
    assert_int_not_equal(disk_check(2, 77, 0, sizeof one, one), 77);
    size_t equal = 0, ones = 0;
    for (size_t i = 0; i < sizeof one; i++) {
        equal += one[i] == two[i];
        for (int bit = 0; bit < 8; bit++)
            ones += one[i] >> bit & 1;
    }
    /* 4096 / 256 = 16 and 16384 are expected; more than six standard deviations (4 and 91) off is no chance.
     */
    assert_in_range(equal, 0, 40);
    assert_in_range(ones, 16384 - 546, 16384 + 546);
}

static void refuses_what_a_folder_cannot_do(void **state) {
    struct rig r;
    char reason[200];
    const struct op gemm = op_gemm(8, 8, 8, DTYPE_FP32);
    const struct op huge = op_file(OP_FILE_READ, 1, 1 << 20, INT64_C(1) << 29, 1); /* 512 TiB */
    const struct op odd = op_file(OP_FILE_READ, 1, 1001, 1, 1), deep = op_file(OP_FILE_READ, 1, 4096, 1, 2);
    open_folder(&r, *state);
    assert_false(disk_backend.supports(r.device, &gemm, reason, sizeof reason));
    assert_false(disk_backend.supports(r.device, &odd, reason, sizeof reason));
    assert_false(disk_backend.supports(r.device, &deep, reason, sizeof reason));
    assert_false(disk_backend.supports(r.device, &huge, reason, sizeof reason));
    assert_non_null(strstr(reason, "5 % of the free"));
    rig_close(&r);
}

static const char *fact(const struct device_info *info, const char *key) {
    for (size_t i = 0; i < info->fact_count; i++)
        if (!strcmp(info->facts[i].key, key))
            return info->facts[i].value;
    return "";
}

static void says_what_the_folder_lies_on(void **state) {
    struct rig r;
    struct device_info info;
    struct err e;
    open_folder(&r, *state);
    assert_int_equal(disk_backend.describe(r.device, &info, &e), 0);
    assert_string_equal(fact(&info, "folder"), *state);
    assert_string_not_equal(fact(&info, "fs_type"), "");
    assert_string_not_equal(fact(&info, "direct_io"), "");
    assert_true(info.free_bytes > 0);
    rig_close(&r);
}

/* proc(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
static void reads_the_mount_that_the_folder_is_on(void **state) {
    char root[200], proc[220], path[260], real[4096];
    struct disk_mount m;
    assert_non_null(realpath(*state, real));
    snprintf(root, sizeof root, "%s/root", (const char *)*state);
    snprintf(proc, sizeof proc, "mkdir -p %s/proc/self", root);
    assert_int_equal(system(proc), 0);
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *out = fopen(path, "w");
    fprintf(out,
            "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
            "30 22 0:40 / %s rw,noatime master:1 - nfs4 files:/a\\040b rw,vers=4.2\n"
            "31 22 0:41 / %sx rw - tmpfs tmpfs rw\nshort line\n",
            real, real);
    fclose(out);
    disk_mount_read(root, *state, &m);
    assert_string_equal(m.type, "nfs4");
    assert_string_equal(m.kind, "network");
    assert_string_equal(m.source, "files:/a b");
    assert_string_equal(m.options, "rw,noatime");
    snprintf(proc, sizeof proc, "rm -r %s", root);
    assert_int_equal(system(proc), 0);
}

/* ---- folders that cannot be measured ---- */

static void open_fails(const char *folder, const char *with) {
    struct err e;
    struct device *d;
    struct backend_config config = {.folder = folder};
    assert_int_equal(disk_backend.open(&config, 0, &d, &e), -1);
    if (!strstr(e.text, with))
        fail_msg("\"%s\" says nothing of \"%s\"", e.text, with);
}

static void a_missing_folder_and_a_file_are_named(void **state) {
    char path[200];
    snprintf(path, sizeof path, "%s/none", (const char *)*state);
    open_fails(path, "no such folder");
    close(open(path, O_CREAT | O_WRONLY, 0600));
    open_fails(path, "is no folder");
    unlink(path);
    open_fails(NULL, "--disk DIR");
}

static void a_folder_that_cannot_be_written_is_an_error(void **state) {
    if (geteuid() == 0) { /* root writes anywhere but on a read-only mount */
        if (mount("tmpfs", *state, "tmpfs", MS_RDONLY, "size=1m")) {
            print_message("not tested: mount: %s\n", strerror(errno));
            skip();
        }
        open_fails(*state, "cannot write there: Read-only");
        umount(*state);
        return;
    }
    chmod(*state, 0500);
    open_fails(*state, "cannot write there");
    chmod(*state, 0700);
}

static void mount_memory(const char *folder, const char *size) {
    if (mount("tmpfs", folder, "tmpfs", 0, size)) {
        print_message("not tested: mount: %s\n", strerror(errno));
        skip();
    }
}

static void remark_of(struct rig *r, const struct op *op, char *out, size_t size) {
    struct rig_op o;
    rig_prepare(r, op, FILL_NORMAL, &o);
    assert_int_equal(rig_wrong_elements(r, &o, 1), 0);
    disk_backend.remark(o.prepared, out, size);
    rig_release(r, &o);
}

static void files_in_memory_are_warm_only(void **state) {
    struct rig r;
    char text[160];
    const struct op op = op_file(OP_FILE_READ, 2, 4096, 4, 1);
    mount_memory(*state, "size=64m");
    open_folder(&r, *state);
    remark_of(&r, &op, text, sizeof text);
    rig_close(&r);
    umount(*state);
    assert_string_equal(text, "warm only: tmpfs keeps its files in memory");
}

static void a_little_free_space_is_not_used_up(void **state) {
    struct rig r;
    char reason[300];
    const struct op fits = op_file(OP_FILE_READ, 1, 4096, 50, 1); /* 200 KiB of 204.8 */
    const struct op more = op_file(OP_FILE_READ, 1, 4096, 52, 1);
    mount_memory(*state, "size=4m");
    open_folder(&r, *state);
    bool fitting = disk_backend.supports(r.device, &fits, reason, sizeof reason);
    bool refused = !disk_backend.supports(r.device, &more, reason, sizeof reason);
    rig_close(&r);
    umount(*state);
    assert_true(fitting);
    assert_true(refused);
    assert_non_null(strstr(reason, "5 % of the free"));
}

static void a_disk_that_fills_up_says_so_and_is_left_clean(void **state) {
    struct rig r;
    struct err e;
    struct rig_op o = {.op = op_file(OP_FILE_SMALL, 1, 8192, 6, 1)};
    char path[200];
    mount_memory(*state, "size=1m");
    open_folder(&r, *state);
    for (int i = 0; i < 2; i++)
        assert_int_equal(disk_backend.alloc(r.device, 64, &o.buffers[i], &e), 0);
    assert_int_equal(disk_backend.prepare(r.device, &o.op, o.buffers, 2, &o.prepared, &e), 0);
    disk_backend.release(o.prepared);
    /* Another fills the disk after the space was looked at. */
    struct prepared late = {.device = r.device, .op = o.op, .fd = -1, .out = o.buffers[1]};
    snprintf(path, sizeof path, "%s/other", (const char *)*state);
    FILE *other = fopen(path, "w");
    while (fputc(1, other) >= 0 && !fflush(other))
        if (fseek(other, 4096, SEEK_CUR))
            break;
    fclose(other);
    int result = disk_op_prepare(&late, &e);
    disk_op_release(&late);
    for (int i = 0; i < 2; i++)
        disk_backend.free(o.buffers[i]);
    unlink(path);
    rig_close(&r);
    size_t left = entries(*state);
    umount(*state);
    assert_int_equal(result, -1);
    assert_int_equal(e.code, ERR_DEVICE_MEMORY);
    assert_non_null(strstr(e.text, "No space left"));
    assert_int_equal(left, 0);
}

/* ---- leftovers ---- */

/* A child makes small files and is killed while it holds them. */
static void leave_files(const char *folder) {
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rig r;
        struct rig_op o;
        struct op op = op_file(OP_FILE_SMALL, 10, 400, 10, 1);
        open_folder(&r, folder);
        rig_prepare(&r, &op, FILL_NORMAL, &o);
        (void)!write(ready[1], "x", 1);
        pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(entries(folder), 1);
    struct rig r;
    open_folder(&r, folder); /* beside a living run: its files stay */
    assert_int_equal(entries(folder), 2);
    rig_close(&r);
    assert_int_equal(entries(folder), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

static void what_a_killed_run_left_goes_with_the_next(void **state) {
    struct rig r;
    leave_files(*state);
    assert_int_equal(entries(*state), 1);
    open_folder(&r, *state);
    rig_close(&r);
    assert_int_equal(entries(*state), 0);
    leave_files(*state);
    disk_sweep(*state);
    assert_int_equal(entries(*state), 0);
}

static void files_of_others_are_never_removed(void **state) {
    char command[600];
    snprintf(command, sizeof command,
             "cd %s && mkdir stepcost-disk-abcdef && cd stepcost-disk-abcdef && touch lock 000001 thesis.tex",
             (const char *)*state);
    assert_int_equal(system(command), 0);
    disk_sweep(*state);
    snprintf(command, sizeof command, "cd %s/stepcost-disk-abcdef && test -f thesis.tex && test ! -f 000001",
             (const char *)*state);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s/stepcost-disk-abcdef", (const char *)*state);
    assert_int_equal(system(command), 0);
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        with_folder(every_block_of_every_pass_is_as_it_was_written),
        with_folder(contents_that_changed_are_seen),
        with_folder(a_file_that_is_cut_is_an_error),
        cmocka_unit_test(two_blocks_and_two_seeds_share_nothing),
        with_folder(refuses_what_a_folder_cannot_do),
        with_folder(says_what_the_folder_lies_on),
        with_folder(reads_the_mount_that_the_folder_is_on),
        with_folder(a_missing_folder_and_a_file_are_named),
        with_folder(a_folder_that_cannot_be_written_is_an_error),
        with_folder(files_in_memory_are_warm_only),
        with_folder(a_little_free_space_is_not_used_up),
        with_folder(a_disk_that_fills_up_says_so_and_is_left_clean),
        with_folder(what_a_killed_run_left_goes_with_the_next),
        with_folder(files_of_others_are_never_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct fixture_file {
    const char *path, *content;
} files[] = {
    {"/sys/class/net/lo/operstate", "unknown\n"},
    {"/sys/class/net/lo/mtu", "65536\n"},
    {"/sys/class/net/eth0/operstate", "up\n"},
    {"/sys/class/net/eth0/mtu", "9001\n"},
    {"/sys/class/net/eth0/speed", "25000\n"},
    {"/sys/class/net/eth1/operstate", "down\n"},
    {"/sys/class/net/eth1/mtu", "1500\n"},
    {"/sys/class/net/veth2/operstate", "unknown\n"},
    {"/sys/class/net/veth2/mtu", "1450\n"},
    {"/sys/class/net/veth2/speed", "-1\n"},
    {"/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"},
    {"/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"},
    {"/proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n"},
};

static void put(const char *root, const struct fixture_file *file) {
    char path[400];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(file->content, out);
    fclose(out);
}

static void lists_interfaces_that_are_up_with_their_line_rate(void **state) {
    (void)state;
    char root[] = "/tmp/stepcost-net-XXXXXX", command[100];
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        put(root, &files[i]);
    json_t *net = net_host_read(root);
    json_t *list = json_object_get(net, "interfaces");
    assert_int_equal(json_array_size(list), 2);
    json_t *eth0 = json_array_get(list, 0), *veth2 = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(eth0, "name")), "eth0");
    assert_int_equal(json_integer_value(json_object_get(eth0, "mtu")), 9001);
    assert_true(json_number_value(json_object_get(eth0, "speed_bits_per_s")) == 25e9);
    assert_string_equal(json_string_value(json_object_get(veth2, "name")), "veth2");
    assert_true(json_is_null(json_object_get(veth2, "speed_bits_per_s")));
    assert_string_equal(json_string_value(json_object_get(net, "tcp_congestion_control")), "bbr");
    assert_int_equal(json_integer_value(json_object_get(net, "tcp_rmem_max_bytes")), 6291456);
    assert_int_equal(json_integer_value(json_object_get(net, "tcp_wmem_max_bytes")), 4194304);
    json_decref(net);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void says_null_for_what_is_not_there(void **state) {
    (void)state;
    json_t *net = net_host_read("/nonexistent");
    assert_int_equal(json_array_size(json_object_get(net, "interfaces")), 0);
    assert_true(json_is_null(json_object_get(net, "tcp_congestion_control")));
    assert_true(json_is_null(json_object_get(net, "tcp_rmem_max_bytes")));
    json_decref(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_interfaces_that_are_up_with_their_line_rate),
        cmocka_unit_test(says_null_for_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/base/fake_root.h"

#include "net/net.h"

static const struct fake_file files[] = {
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
    {"/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"},
    {"/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n"},
    {"/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n"},
    {"/sys/class/infiniband/mlx5_1/node_guid", "a088:c203:00ab:cdef\n"},
    {"/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"},
    {"/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"},
    {"/proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n"},
};

static void lists_interfaces_that_are_up_with_their_line_rate(void **state) {
    (void)state;
    struct fake_root root = fake_root_make();
    fake_root_put_all(&root, files, COUNT(files));
    fake_root_link(&root, "/sys/class/net/eth0/device/driver", "../../../../bus/pci/drivers/mlx5_core");
    json_t *net = net_host_read(root.path);
    json_t *list = json_object_get(net, "interfaces");
    assert_int_equal(json_array_size(list), 2);
    json_t *eth0 = json_array_get(list, 0), *veth2 = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(eth0, "name")), "eth0");
    assert_int_equal(json_integer_value(json_object_get(eth0, "mtu")), 9001);
    assert_true(json_number_value(json_object_get(eth0, "speed_bits_per_s")) == 25e9);
    assert_string_equal(json_string_value(json_object_get(eth0, "driver")), "mlx5_core");
    assert_true(json_is_null(json_object_get(veth2, "driver")));
    json_t *rdma = json_object_get(net, "rdma_devices");
    assert_int_equal(json_array_size(rdma), 2);
    json_t *first = json_array_get(rdma, 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "mlx5_0");
    assert_string_equal(json_string_value(json_object_get(first, "state")), "4: ACTIVE");
    assert_string_equal(json_string_value(json_object_get(first, "link_layer")), "InfiniBand");
    assert_true(json_number_value(json_object_get(first, "speed_bits_per_s")) == 400e9);
    assert_true(json_is_null(json_object_get(json_array_get(rdma, 1), "state")));
    assert_string_equal(json_string_value(json_object_get(veth2, "name")), "veth2");
    assert_true(json_is_null(json_object_get(veth2, "speed_bits_per_s")));
    assert_string_equal(json_string_value(json_object_get(net, "tcp_congestion_control")), "bbr");
    assert_int_equal(json_integer_value(json_object_get(net, "tcp_rmem_max_bytes")), 6291456);
    assert_int_equal(json_integer_value(json_object_get(net, "tcp_wmem_max_bytes")), 4194304);
    json_decref(net);
    fake_root_remove(&root);
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

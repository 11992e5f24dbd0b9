#include "net/net.h"

#include "base/text.h"

#include <dirent.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 600, LINE_SIZE = 256 };
static const double bits_per_mbit = 1e6;

static bool read_interface(const char *root, const char *name, const char *file, char *out, size_t size) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/sys/class/net/%.64s/%s", name, file);
    return text_read_line(root, path, out, size);
}

/* Virtual interfaces say "unknown" while they carry traffic. */
static bool is_up(const char *root, const char *name) {
    char state[LINE_SIZE];
    return read_interface(root, name, "operstate", state, sizeof state) &&
           (strcmp(state, "up") == 0 || strcmp(state, "unknown") == 0);
}

static json_t *integer_or_null(bool got, const char *text) {
    return got ? json_integer(strtoll(text, NULL, 10)) : json_null();
}

/* The kernel gives Mbit/s, and -1 or an error for a link without a line rate. */
static json_t *speed_bits_per_s(const char *root, const char *name) {
    char text[LINE_SIZE];
    double mbit = read_interface(root, name, "speed", text, sizeof text) ? strtod(text, NULL) : 0;
    return mbit > 0 ? json_real(mbit * bits_per_mbit) : json_null();
}

/* The last part of where the link leads; a virtual interface has no device. */
static json_t *driver(const char *root, const char *name) {
    char path[PATH_SIZE], target[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sys/class/net/%.64s/device/driver", root, name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return json_null();
    target[length] = '\0';
    return json_string(basename(target));
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static json_t *interfaces(const char *root) {
    char folder[PATH_SIZE], mtu[LINE_SIZE];
    struct dirent **entries = NULL;
    json_t *list = json_array();
    snprintf(folder, sizeof folder, "%s/sys/class/net", root);
    int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && strcmp(name, "lo") != 0 && is_up(root, name)) {
            bool got = read_interface(root, name, "mtu", mtu, sizeof mtu);
            json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name", name, "driver",
                                                  driver(root, name), "mtu", integer_or_null(got, mtu),
                                                  "speed_bits_per_s", speed_bits_per_s(root, name)));
        }
        free(entries[i]);
    }
    free(entries);
    return list;
}

/* "100 Gb/sec (2X HDR)" */
static json_t *port_rate(const char *root, const char *path) {
    char line[LINE_SIZE];
    double gbit = text_read_line(root, path, line, sizeof line) ? strtod(line, NULL) : 0;
    return gbit > 0 ? json_real(gbit * 1e9) : json_null();
}

static json_t *line_or_null(const char *root, const char *path) {
    char line[LINE_SIZE];
    return text_read_line(root, path, line, sizeof line) ? json_string(line) : json_null();
}

/* Port 1 stands for the device: NICs of today have one port a function. "4: ACTIVE" */
static json_t *rdma_devices(const char *root) {
    static const char *const files[] = {"state", "rate", "link_layer"};
    char folder[PATH_SIZE], path[3][PATH_SIZE];
    struct dirent **entries = NULL;
    json_t *list = json_array();
    snprintf(folder, sizeof folder, "%s/sys/class/infiniband", root);
    int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        for (int k = 0; k < 3; k++)
            snprintf(path[k], sizeof path[k], "/sys/class/infiniband/%.64s/ports/1/%s", name, files[k]);
        if (name[0] != '.')
            json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name", name, "state",
                                                  line_or_null(root, path[0]), "speed_bits_per_s",
                                                  port_rate(root, path[1]), "link_layer",
                                                  line_or_null(root, path[2])));
        free(entries[i]);
    }
    free(entries);
    return list;
}

/* "least default most" -> most. */
static json_t *third_word(const char *root, const char *path) {
    char line[LINE_SIZE];
    long long most;
    bool got = text_read_line(root, path, line, sizeof line) && sscanf(line, "%*s %*s %lld", &most) == 1;
    return got ? json_integer(most) : json_null();
}

json_t *net_host_read(const char *root) {
    char control[LINE_SIZE];
    bool got = text_read_line(root, "/proc/sys/net/ipv4/tcp_congestion_control", control, sizeof control);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "interfaces", interfaces(root), "rdma_devices",
                     rdma_devices(root), "tcp_congestion_control", got ? json_string(control) : json_null(),
                     "tcp_rmem_max_bytes", third_word(root, "/proc/sys/net/ipv4/tcp_rmem"),
                     "tcp_wmem_max_bytes", third_word(root, "/proc/sys/net/ipv4/tcp_wmem"));
}

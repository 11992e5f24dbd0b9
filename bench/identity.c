#include "bench/identity.h"

#include "base/text.h"
#include "bench/inventory_parts.h"
#include "model/record_scan.h"

#include <string.h>

/* Of the value and what it is, so that it is no use as the value elsewhere. Short serial numbers can be
 * guessed from their hash; nothing here is a secret, it is only not in clear. */
static json_t *hashed(const char *what, const char *value) {
    char text[INVENTORY_LINE + 64], hash[RECORD_HASH_SIZE];
    snprintf(text, sizeof text, "stepcost %s %s", what, value);
    record_hash(text, strlen(text), hash);
    return json_string(hash);
}

static void take_uuid(const char *root, const char *folder, const char *name, json_t *out) {
    char path[INVENTORY_PATH], uuid[128];
    snprintf(path, sizeof path, "%s/%s/information", folder, name);
    /* "GPU-????" until the driver has opened the device */
    if (inventory_find(root, path, "GPU UUID", ':', uuid, sizeof uuid) && strchr(uuid, '?') == NULL)
        json_array_append_new(out, hashed("gpu_uuid", uuid));
}

json_t *inventory_identity(const char *root) {
    static const struct {
        const char *key, *path;
    } rows[] = {
        {"machine_id", "/etc/machine-id"},
        {"product_uuid", "/sys/class/dmi/id/product_uuid"},
        {"board_serial", "/sys/class/dmi/id/board_serial"},
    };
    char line[INVENTORY_LINE];
    json_t *out = json_object(), *uuids = json_array();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool got = text_read_line(root, rows[i].path, line, sizeof line);
        json_object_set_new(out, rows[i].key, got ? hashed(rows[i].key, line) : json_null());
    }
    inventory_each(root, "/proc/driver/nvidia/gpus", "*", take_uuid, uuids);
    json_object_set_new(out, "gpu_uuids", uuids);
    return out;
}

static bool is_known(const json_t *value) {
    return json_is_string(value) || json_array_size(value) > 0;
}

const char *identity_difference(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"machine_id", "board_serial", "product_uuid", "gpu_uuids"};
    const json_t *a = json_object_get(one, "identity"), *b = json_object_get(other, "identity");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if (is_known(x) && is_known(y) && !json_equal(x, y))
            return keys[i];
    }
    return NULL;
}

#include "cli/disks.h"

#include "base/mem.h"
#include "kernels/disk/disk_folder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A tier's own share of the time is short: this much is written to a slow disk in some seconds. */
static const uint64_t tier_bytes = 256 << 20;

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? xstrdup("/")
                   : slash       ? xasprintf("%.*s", (int)(slash - path), path)
                                 : xstrdup(".");
    char *real = realpath(folder, NULL);
    if (!real)
        return folder;
    free(folder);
    return real;
}

int disks_choose(struct disks *d, struct err *e) {
    if (!d->wanted && d->folders->count > 0)
        return err_set(e, ERR_USAGE,
                       "--disk: nothing here measures %s; add --bench disk, or take --tier accept",
                       d->folders->items[0]);
    if (!d->wanted)
        return 0;
    if (d->folders->count == 0) {
        d->made = folder_of(d->record_path);
        opt_list_add(d->folders, d->made);
    }
    uint64_t least = *d->bytes;
    if (least == OPT_SIZE_NONE && !d->named)
        least = tier_bytes;
    for (size_t i = 0; i < d->folders->count; i++) {
        uint64_t room;
        struct err ignored; /* what cannot be measured says so in the record */
        if (!disk_room(d->folders->items[i], &room, NULL, &ignored) && room < least)
            least = room;
    }
    *d->bytes = least == OPT_SIZE_NONE ? 0 : least;
    return 0;
}

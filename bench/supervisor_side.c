#include "bench/supervisor_side.h"

#include "kernels/disk/disk_folder.h"

#include <stdio.h>
#include <string.h>

static bool same_place(const struct side *side, const struct bench_case *c) {
    return side->backend != NULL && strcmp(side->backend, c->backend) == 0 && side->folder != NULL &&
           c->folder != NULL && strcmp(side->folder, c->folder) == 0;
}

struct crew *side_crew(struct side *side, const struct bench_case *c, uint64_t deadline_ns,
                       const volatile int *stop) {
    struct err e;
    int result = 0;
    if (!same_place(side, c)) {
        side_close(side);
        side->backend = c->backend;
        side->folder = c->folder;
        side->crew = (struct crew){.backend = c->backend, .config = {.folder = c->folder}, .stop = stop};
        result = crew_open(&side->crew, 1, &e);
    } else if (side->refused[0] == '\0') {
        result = crew_restore(&side->crew, deadline_ns, &e);
    }
    if (result != 0)
        snprintf(side->refused, sizeof side->refused, "%.299s", e.text);
    return side->refused[0] == '\0' ? &side->crew : NULL;
}

void side_close(struct side *side) {
    bool was_open = side->backend != NULL && side->refused[0] == '\0';
    crew_close(&side->crew);
    if (was_open && side->folder != NULL)
        disk_sweep(side->folder);
    *side = (struct side){0};
}

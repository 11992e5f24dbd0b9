#include "reports/catalogue.h"
#include "reports/offer_merge.h"

#include "base/csv.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/data.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char examples_folder[] = "prices/";

/* ---- the provider, which SkyPilot writes only into the path: catalogs/v8/aws/vms.csv ---- */

/* The last part of path without its ending, or the one before it when at_folder. */
static char *path_part(const char *path, bool at_folder) {
    const char *slash = strrchr(path, '/');
    const char *begin = slash ? slash + 1 : path;
    size_t length;

    if (at_folder) {
        const char *end = slash ? slash : path;

        begin = end;
        while (begin > path && begin[-1] != '/') {
            begin--;
        }
        return xasprintf("%.*s", (int)(end - begin), begin);
    }
    length = strcspn(begin, ".");
    return xasprintf("%.*s", (int)length, begin);
}

/* "skypilot_aws.csv", "aws.csv", "skypilot_aws_vms_gpu.csv" and ".../aws/vms.csv" are all "aws". */
static const char *provider_by_path(struct arena *a, const char *path) {
    static const char prefix[] = "skypilot_";
    char *absolute = realpath(path, NULL);
    char *part = path_part(path, false);
    const char *provider;
    char *kept;

    if (strcmp(part, "vms") == 0) {
        free(part);
        part = path_part(absolute ? absolute : path, true);
    }
    if (strstr(part, "_vms")) {
        *strstr(part, "_vms") = '\0';
    }
    provider = strncmp(part, prefix, strlen(prefix)) == 0 ? part + strlen(prefix) : part;
    kept = utf8_clean(arena_strdup(a, provider));
    for (char *c = kept; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    free(part);
    free(absolute);
    return kept;
}

/* ---- reading ---- */

struct source {
    const char *path, *observed;
    const char *bytes; /* NULL: read path */
    size_t length;
};

static int read_source(struct offer_set *set, const struct gpu_table *gpus, const struct source *source,
                       struct err *e) {
    struct catalogue_file f = {
        .name = utf8_clean(arena_strdup(&set->arena, source->path)),
        .provider = provider_by_path(&set->arena, source->path),
        .observed = arena_strdup(&set->arena, source->observed),
        .row_note = "",
        .gpus = gpus,
        .arena = &set->arena,
    };
    int result = catalogue_read(&f, source->path, source->bytes, source->length, e);

    if (result == 0) {
        offers_merge(set, &f);
    }
    catalogue_file_free(&f);
    return result;
}

int offers_read(struct offer_set *set, const struct gpu_table *gpus, const char *path, struct err *e) {
    return read_source(set, gpus, &(struct source){.path = path, .observed = ""}, e);
}

static int read_example(struct offer_set *set, const struct gpu_table *gpus, const struct data *data,
                        const char *file, const char *observed, struct err *e) {
    char *name = xasprintf("%s%s", examples_folder, file);
    struct data_blob blob;
    int result = data_load(data, name, &blob, e);

    if (result == 0) {
        result = read_source(set, gpus, &(struct source){name, observed, blob.bytes, blob.length}, e);
        data_release(&blob);
    }
    free(name);
    return result;
}

static int read_listed(struct offer_set *set, const struct gpu_table *gpus, const struct data *data,
                       struct csv *csv, struct err *e) {
    int file, observed, got;
    char **fields;
    size_t count;

    if (csv_read_header(csv, e) != 0) {
        return -1;
    }
    file = csv_column(csv, "file");
    observed = csv_column(csv, "observed");
    if (file < 0 || observed < 0) {
        return err_set(e, ERR_PARSE, "%s: needs the columns \"file\" and \"observed\"", csv_name(csv));
    }
    while ((got = csv_next(csv, &fields, &count, e)) == 1) {
        if (count != csv_columns(csv)) {
            return err_set(e, ERR_PARSE, "%s:%zu: %zu fields where the header has %zu", csv_name(csv),
                           csv_line(csv), count, csv_columns(csv));
        }
        if (read_example(set, gpus, data, fields[file], fields[observed], e) != 0) {
            return err_wrap(e, "%s:%zu", csv_name(csv), csv_line(csv));
        }
    }
    return got;
}

int offers_read_examples(struct offer_set *set, const struct gpu_table *gpus, const struct data *data,
                         struct err *e) {
    struct data_blob blob;
    struct csv *csv;
    int result;

    if (data_load(data, "prices/SOURCES.csv", &blob, e) != 0) {
        return -1;
    }
    csv = csv_open_memory(blob.name, blob.bytes, blob.length, e);
    result = csv ? read_listed(set, gpus, data, csv, e) : -1;
    csv_close(csv);
    data_release(&blob);
    return result;
}

int offers_read_files(struct offer_set *set, const struct gpu_table *gpus, const struct data *data,
                      const char *const *paths, size_t count, struct err *e) {
    if (count == 0) {
        return offers_read_examples(set, gpus, data, e);
    }
    for (size_t i = 0; i < count; i++) {
        if (offers_read(set, gpus, paths[i], e) != 0) {
            return -1;
        }
    }
    return 0;
}

void offers_free(struct offer_set *set) {
    if (!set) {
        return;
    }
    free(set->offers);
    free(set->accounts);
    free(set->refusals);
    arena_free(&set->arena);
    memset(set, 0, sizeof *set);
}

/* A catalogue as CSV. */
#include "reports/catalogue_parts.h"

#include "base/csv.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char not_utf8[] = "not UTF-8; convert the file, as by iconv -f GB18030 -t UTF-8";

static bool csv_has(const void *names, const char *name) {
    return csv_column(names, name) >= 0;
}

struct csv_map {
    const struct catalogue *layout;
    int at[CATALOGUE_MAX_COLUMNS]; /* column of the file, -1 = absent */
    bool last_is_read;             /* the file's last column belongs to the layout */
};

/* What spreadsheets of other countries write. */
static int check_header(const char *file, const struct csv *csv, struct err *e) {
    for (size_t i = 0; i < csv_columns(csv); i++) {
        if (!utf8_well_formed(csv_column_name(csv, i))) {
            return err_set(e, ERR_PARSE, "%s: the header is %s", file, not_utf8);
        }
    }
    if (csv_columns(csv) == 1 && strpbrk(csv_column_name(csv, 0), ";\t")) {
        return err_set(e, ERR_PARSE, "%s: no commas in the header; save it with commas between the columns",
                       file);
    }
    return 0;
}

static int map_columns(struct catalogue_file *f, const struct csv *csv, struct csv_map *map, struct err *e) {
    const struct catalogue *layout;
    struct text all = {0}, ignored = {0};
    int result = -1;

    for (size_t i = 0; i < csv_columns(csv); i++) {
        catalogue_add_name(&all, csv_column_name(csv, i));
    }
    layout = map->layout = catalogue_recognise(csv_has, csv);
    if (!layout) {
        catalogue_not_recognised(f, &all, e);
        goto out;
    }
    for (size_t c = 0; c < layout->column_count; c++) {
        map->at[c] = csv_column(csv, layout->columns[c].name);
        if (map->at[c] < 0 && layout->columns[c].required) {
            err_set(e, ERR_PARSE, "%s: the column \"%s\" of the %s layout is missing; add it to \"%s\"",
                    f->name, layout->columns[c].name, layout->name, text_get(&all));
            goto out;
        }
    }
    for (size_t i = 0; i < csv_columns(csv); i++) {
        map->last_is_read = catalogue_has_column(layout, csv_column_name(csv, i));
        if (!map->last_is_read) {
            catalogue_add_name(&ignored, csv_column_name(csv, i));
        }
    }
    f->account.format = layout->name;
    f->account.ignored = arena_strdup(f->arena, text_get(&ignored));
    result = 0;
out:
    text_free(&all);
    text_free(&ignored);
    return result;
}

/* A row that is too short, or too long where its last column is read, may have its values displaced. Where
 * the last column is not read (Azure's Generation, "V1,V2" unquoted) the surplus belongs to that. */
static bool check_width(struct catalogue_file *f, const struct csv *csv, const struct csv_map *map,
                        size_t count) {
    size_t columns = csv_columns(csv);
    char *reason;

    f->row_note = "";
    if (count == columns) {
        return true;
    }
    if (count > columns && !map->last_is_read) {
        f->rows_surplus++;
        f->row_note = "surplus fields at the row's end left out";
        return true;
    }
    reason = xasprintf("%zu fields where the header has %zu; quote a field that has a comma in it", count,
                       columns);
    catalogue_refuse(f, csv_line(csv), reason);
    free(reason);
    return false;
}

/* The columns that the layout reads; false when the row was refused. */
static bool take_fields(struct catalogue_file *f, const struct csv *csv, const struct csv_map *map,
                        char **row, const char **fields) {
    for (size_t c = 0; c < map->layout->column_count; c++) {
        char *field = map->at[c] < 0 ? NULL : row[map->at[c]];

        if (field && !utf8_well_formed(field)) {
            char *reason = xasprintf("%s: %s", map->layout->columns[c].name, not_utf8);

            catalogue_refuse(f, csv_line(csv), reason);
            free(reason);
            return false;
        }
        fields[c] = field ? catalogue_trim(utf8_clean(field)) : "";
    }
    return true;
}

static int read_csv_rows(struct catalogue_file *f, struct csv *csv, struct err *e) {
    const char *fields[CATALOGUE_MAX_COLUMNS];
    struct csv_map map = {0};
    char **row;
    size_t count;
    int got;

    if (csv_read_header(csv, e) != 0 || check_header(f->name, csv, e) != 0 ||
        map_columns(f, csv, &map, e) != 0) {
        return -1;
    }
    while ((got = csv_next(csv, &row, &count, e)) == 1) {
        f->account.rows_read++;
        if (check_width(f, csv, &map, count) && take_fields(f, csv, &map, row, fields)) {
            catalogue_read_row(f, map.layout, fields, csv_line(csv));
        }
    }
    if (map.layout->finish) {
        map.layout->finish(f);
    }
    if (f->rows_surplus > 0) {
        f->account.ignored =
            arena_printf(f->arena, "%s, surplus fields of %zu rows", f->account.ignored, f->rows_surplus);
    }
    identities_resolve(&f->identities, f->arena, f->gpus, map.layout->trusted);
    return got;
}

int catalogue_read_csv(struct catalogue_file *f, const char *path, const char *bytes, size_t length,
                       struct err *e) {
    struct csv *csv = bytes ? csv_open_memory(f->name, bytes, length, e) : csv_open(path, e);
    int result = csv ? read_csv_rows(f, csv, e) : -1;

    csv_close(csv);
    return result;
}

#include "reports/catalogue_parts.h"

#include "base/text.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct catalogue *const layouts[] = {&catalogue_own, &catalogue_skypilot, NULL};

/* A file with this many required columns of a layout means to be of that layout: what else is missing is
 * then named. */
enum { ENOUGH_TO_RECOGNISE = 3 };
enum { NAMES_SHOWN_BYTES = 400, SNIFF_BYTES = 4096 };

const struct catalogue *catalogue_recognise(catalogue_has_name has, const void *names) {
    const struct catalogue *best = NULL;
    size_t best_found = ENOUGH_TO_RECOGNISE - 1;

    for (size_t i = 0; layouts[i]; i++) {
        size_t found = 0;

        for (size_t c = 0; c < layouts[i]->column_count; c++) {
            found += layouts[i]->columns[c].required && has(names, layouts[i]->columns[c].name);
        }
        if (found > best_found) {
            best = layouts[i];
            best_found = found;
        }
    }
    return best;
}

void catalogue_add_name(struct text *list, const char *name) {
    char *clean;

    if (list->length > NAMES_SHOWN_BYTES) {
        return;
    }
    clean = utf8_clean(xasprintf("%.60s", name));
    text_printf(list, "%s%s", list->length > 0 ? ", " : "", clean);
    if (list->length > NAMES_SHOWN_BYTES) {
        text_add(list, ", ...");
    }
    free(clean);
}

int catalogue_not_recognised(const struct catalogue_file *f, const struct text *found, struct err *e) {
    struct text known = {0};

    for (size_t i = 0; layouts[i]; i++) {
        bool first = true;

        text_printf(&known, "%s%s (", i > 0 ? " or " : "", layouts[i]->name);
        for (size_t c = 0; c < layouts[i]->column_count; c++) {
            if (layouts[i]->columns[c].required) {
                text_printf(&known, "%s%s", first ? "" : ", ", layouts[i]->columns[c].name);
                first = false;
            }
        }
        text_add(&known, ")");
    }
    err_set(e, ERR_PARSE, "%s: no price catalogue that is known: has \"%s\"; wanted the columns of %s",
            f->name, text_get(found), text_get(&known));
    text_free(&known);
    return -1;
}

void catalogue_refuse(struct catalogue_file *f, size_t line, const char *reason) {
    f->refusals = xgrow(f->refusals, sizeof *f->refusals, f->refusal_count, &f->refusal_capacity);
    f->refusals[f->refusal_count++] = (struct offer_refusal){
        .file = f->name, .line = line, .counted = f->counted, .reason = arena_strdup(f->arena, reason)};
    f->account.rows_refused++;
}

void catalogue_read_row(struct catalogue_file *f, const struct catalogue *layout, const char *const *fields,
                        size_t line) {
    struct err e = {0};

    if (layout->read_row(f, fields, line, &e) != 0) {
        catalogue_refuse(f, line, e.text);
    }
}

bool catalogue_has_column(const struct catalogue *layout, const char *name) {
    for (size_t c = 0; c < layout->column_count; c++) {
        if (text_equal_nocase(layout->columns[c].name, name)) {
            return true;
        }
    }
    return false;
}

char *catalogue_trim(char *text) {
    size_t length = strlen(text);

    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        text[--length] = '\0';
    }
    while (isspace((unsigned char)*text)) {
        text++;
    }
    return text;
}

/* The first bytes of a file: binary junk and what is no regular file are told here, before a reader waits
 * for a line end that never comes. */
static int sniff_file(const char *path, char *head, size_t *length, struct err *e) {
    struct stat st;
    FILE *in;
    int result = -1;

    /* before it is opened: a pipe that nobody writes to would be waited for */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return err_set(e, ERR_NOT_FOUND, "%s: %s; name the catalogue file itself", path,
                       S_ISDIR(st.st_mode) ? "is a folder" : "is no regular file");
    }
    in = fopen(path, "rb");
    if (!in) {
        return err_set(e, ERR_NOT_FOUND, "%s: %s; name a price catalogue that can be read", path,
                       strerror(errno));
    }
    *length = fread(head, 1, SNIFF_BYTES, in);
    if (ferror(in)) {
        err_set(e, ERR_IO, "%s: reading failed: %s", path, strerror(errno));
        goto out;
    }
    result = 0;
out:
    fclose(in);
    return result;
}

/* Files that are often handed in for a catalogue, by their first bytes. */
static const struct {
    const char *magic, *mend;
} foreign[] = {
    {"\xFF\xFE", "UTF-16; convert it by iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF", "UTF-16; convert it by iconv -f UTF-16 -t UTF-8"},
    {"\x1F\x8B", "compressed by gzip; unpack it first"},
    {"PK\x03\x04", "a zip archive or a workbook; unpack it, or save it as CSV"},
};

static int check_text(const char *name, const char *head, size_t length, struct err *e) {
    if (length == 0) {
        return err_set(e, ERR_PARSE, "%s: empty; a catalogue begins with a header row", name);
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t n = strlen(foreign[i].magic);

        if (length >= n && memcmp(head, foreign[i].magic, n) == 0) {
            return err_set(e, ERR_PARSE, "%s: %s", name, foreign[i].mend);
        }
    }
    if (memchr(head, '\0', length)) {
        return err_set(e, ERR_PARSE, "%s: binary, not CSV or JSON; unpack or export it first", name);
    }
    return 0;
}

static bool looks_like_json(const char *head, size_t length) {
    size_t at = length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    while (at < length && isspace((unsigned char)head[at])) {
        at++;
    }
    return at < length && (head[at] == '{' || head[at] == '[');
}

int catalogue_read(struct catalogue_file *f, const char *path, const char *bytes, size_t length,
                   struct err *e) {
    char buffer[SNIFF_BYTES] = {0};
    const char *head = bytes ? bytes : buffer;
    size_t head_length = length < SNIFF_BYTES ? length : SNIFF_BYTES;

    f->account.file = f->name;
    f->account.provider = f->provider;
    if (!bytes && sniff_file(path, buffer, &head_length, e) != 0) {
        return -1;
    }
    if (check_text(f->name, head, head_length, e) != 0) {
        return -1;
    }
    if (looks_like_json(head, head_length)) {
        f->counted = "offer";
        return catalogue_read_json(f, path, bytes, length, e);
    }
    f->counted = "line";
    return catalogue_read_csv(f, path, bytes, length, e);
}

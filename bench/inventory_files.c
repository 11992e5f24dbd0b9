#include "base/text.h"
#include "bench/inventory_parts.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *inventory_open(const char *root, const char *path) {
    char full[INVENTORY_PATH];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "re");
}

bool inventory_exists(const char *root, const char *path) {
    char full[INVENTORY_PATH];
    snprintf(full, sizeof full, "%s%s", root, path);
    return access(full, F_OK) == 0;
}

json_t *inventory_text_or_null(const char *text) {
    return text != NULL && text[0] != '\0' ? json_text(text) : json_null();
}

json_t *inventory_text(const char *root, const char *path) {
    char line[INVENTORY_LINE];
    return text_read_line(root, path, line, sizeof line) ? json_text(line) : json_null();
}

double inventory_double(const char *root, const char *path) {
    char line[INVENTORY_LINE], *end;
    if (!text_read_line(root, path, line, sizeof line))
        return NAN;
    double value = strtod(line, &end);
    return end != line ? value : NAN;
}

json_t *inventory_number(const char *root, const char *path) {
    double value = inventory_double(root, path);
    return isfinite(value) && value == floor(value) ? json_integer((json_int_t)value) : json_number(value);
}

char *inventory_value(char *line, const char *key, char separator) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    char *at = line + length;
    at += strspn(at, " \t");
    if (*at != separator)
        return NULL;
    at++;
    at += strspn(at, " \t\"");
    at[strcspn(at, "\"\n")] = '\0';
    return at;
}

bool inventory_find(const char *root, const char *path, const char *key, char separator, char *out,
                    size_t size) {
    char line[INVENTORY_LINE], *value = NULL;
    FILE *file = inventory_open(root, path);
    while (file != NULL && value == NULL && fgets(line, sizeof line, file) != NULL)
        value = inventory_value(line, key, separator);
    if (value != NULL)
        snprintf(out, size, "%s", value);
    if (file != NULL)
        fclose(file);
    return value != NULL && value[0] != '\0';
}

void inventory_each(const char *root, const char *folder, const char *pattern,
                    void (*take)(const char *root, const char *folder, const char *name, json_t *out),
                    json_t *out) {
    char full[INVENTORY_PATH];
    struct dirent **entries = NULL;
    snprintf(full, sizeof full, "%s%s", root, folder);
    int count = scandir(full, &entries, NULL, versionsort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && fnmatch(pattern, entries[i]->d_name, 0) == 0)
            take(root, folder, entries[i]->d_name, out);
        free(entries[i]);
    }
    free(entries);
}

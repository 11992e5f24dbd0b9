#include "base/utf8.h"

#include <string.h>

struct range {
    unsigned char low, high; /* of the first byte */
    unsigned char length;
    unsigned char second_low, second_high; /* of the second; later ones are 80..BF */
};

/* Table 3-7 of the Unicode Standard, "Well-Formed UTF-8 Byte Sequences". */
static const struct range ranges[] = {
    {0x00, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

static bool continues(const struct range *r, const unsigned char *bytes) {
    if (r->length > 1 && (bytes[1] < r->second_low || bytes[1] > r->second_high)) {
        return false;
    }
    for (size_t i = 2; i < r->length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return false;
        }
    }
    return true;
}

size_t utf8_sequence(const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t i = 0; length > 0 && i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *r = &ranges[i];

        if (bytes[0] >= r->low && bytes[0] <= r->high) {
            return r->length <= length && continues(r, bytes) ? r->length : 0;
        }
    }
    return 0;
}

/* Most texts are printable ASCII, and stay as they are. No exit from the loop: it becomes vector code. */
static bool is_plain(const char *text, size_t length) {
    bool plain = true;

    for (size_t i = 0; i < length; i++) {
        plain &= text[i] >= 0x20 && text[i] < 0x7F;
    }
    return plain;
}

bool utf8_well_formed(const char *text) {
    size_t length = strlen(text);

    if (is_plain(text, length)) {
        return true;
    }
    for (size_t i = 0, n; i < length; i += n) {
        n = utf8_sequence(text + i, length - i);
        if (n == 0) {
            return false;
        }
    }
    return true;
}

static bool is_control(const char *text, size_t length) {
    unsigned char first = (unsigned char)text[0];

    return first < 0x20 || first == 0x7F || (length == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0);
}

char *utf8_clean(char *text) {
    size_t length = strlen(text);
    size_t used = 0;

    if (is_plain(text, length)) {
        return text;
    }
    for (size_t i = 0; i < length;) {
        size_t n = utf8_sequence(text + i, length - i);

        if (n == 0 || is_control(text + i, n)) {
            text[used++] = strchr("\t\n\r", text[i]) ? ' ' : '?';
        } else {
            memmove(text + used, text + i, n);
            used += n;
        }
        i += n > 0 ? n : 1;
    }
    text[used] = '\0';
    return text;
}

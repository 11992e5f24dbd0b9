/* Text of strangers made safe to print: valid UTF-8, no control characters. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed UTF-8 sequence (RFC 3629) at text[0..length), 0 when there is none. */
size_t utf8_sequence(const char *text, size_t length);
bool utf8_well_formed(const char *text);
/* In place: every malformed byte and every control character (an escape sequence would reach the reader's
 * terminal) becomes '?'; tab and line ends become a space. Returns text. */
char *utf8_clean(char *text);

#endif

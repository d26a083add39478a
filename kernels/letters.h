#ifndef OPSPEC_LETTERS_H
#define OPSPEC_LETTERS_H

// Letters of UTF-8 text: upper and lower case, white space. The same on every platform, whatever the locale: case pairs of
// Latin, Greek, Cyrillic and Armenian; other scripts stay as they are. Bytes that are no UTF-8 stay as they are.

#include <opspec/operator.h>

// Bytes that letters_change may need for a text.
size_t letters_changed_room(os_str text);
// Writes the text in upper or lower case; answers its length.
size_t letters_change(char *to, os_str text, bool upper);
// The code point that a text of at least one byte begins with, and its length. A byte that is no UTF-8 is U+FFFD.
size_t letters_next(os_str text, uint32_t *code);
// The same letter in upper or lower case.
uint32_t letters_case(uint32_t code, bool upper);
// Length of the white-space character that the text begins with, 0 if there is none.
size_t letters_blank(os_str text);

#endif

#ifndef OPSPEC_LETTERS_H
#define OPSPEC_LETTERS_H

// Letters of UTF-8 text: upper and lower case, white space. The same on every platform, whatever the locale: case pairs of
// Latin, Greek, Cyrillic and Armenian; other scripts stay as they are. Bytes that are no UTF-8 stay as they are.

#include <opspec/operator.h>

// Bytes that letters_change may need for a text.
size_t letters_changed_room(os_str text);
// Writes the text in upper or lower case; answers its length.
size_t letters_change(char *to, os_str text, bool upper);
// Length of the white-space character that the text begins with, 0 if there is none.
size_t letters_blank(os_str text);

#endif

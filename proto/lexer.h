#ifndef OPSPEC_LEXER_H
#define OPSPEC_LEXER_H

#include "arena.h"

// Words of protobuf's text format and of ONNX's textual syntax, which share comments (# to the end of the line), names and
// numbers. Strings differ: in the text format they stand on one line between either quotation mark and have the escapes of
// C; in ONNX's they go over lines and a backslash takes the next character as it is.

typedef enum os_token {
  OS_TOKEN_END,
  OS_TOKEN_WORD,   // [A-Za-z_][A-Za-z0-9_]*
  OS_TOKEN_NUMBER, // without a sign: 12, 1.5, .5, 1e-3, 0x1f, 1.5f
  OS_TOKEN_STRING,
  OS_TOKEN_SIGN,  // any other character
  OS_TOKEN_FAULT, // `fault` says what is wrong
} os_token;

typedef struct os_lexer {
  os_str text;
  os_arena *arena;
  bool onnx;
  os_token token; // the current one
  size_t start, end;
  size_t before; // end of the one before it
  char sign;     // the character of OS_TOKEN_SIGN, else 0
  os_str value;  // of a word or number; of a string decoded
  const char *fault;
  bool failed; // memory ran out, and the text has ended
  size_t note; // where, before the token, the first comment stands that begins with "#:"; start = nowhere
  bool raw;    // a comment before the token is "#raw"
} os_lexer;

// Moves to the next token. A fault stays where it is; so does the end.
void os_lexer_next(os_lexer *self);

#endif

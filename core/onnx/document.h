#ifndef OPSPEC_DOCUMENT_H
#define OPSPEC_DOCUMENT_H

#include "decode.h"
#include "onnx-data.pb-c.h"
#include "onnx-operators.pb-c.h"
#include "onnx.pb-c.h"

// What a file is.
typedef enum os_kind {
  OS_KIND_UNKNOWN,
#define OS_KIND(NAME, name, message, descriptor) OS_KIND_##NAME,
#include "kinds.def"
#undef OS_KIND
  OS_KIND_PROTO_END, // kinds above are protobuf messages
  OS_KIND_JSON = OS_KIND_PROTO_END,
  OS_KIND_ZIP,
  OS_KIND_TEXT, // text, but not JSON: textproto or something else
} os_kind;

// "model"; "json", "zip", "text" and "unknown" too. Never NULL.
const char *os_kind_name(os_kind kind);
// NULL when the kind is no protobuf message.
const ProtobufCMessageDescriptor *os_kind_type(os_kind kind);
// Takes "model" and "ModelProto"; OS_KIND_UNKNOWN for other names.
os_kind os_kind_find(os_str name);

typedef struct os_sniff {
  os_kind kind;
  bool sure;         // it decodes and says what such a message has to say
  os_str evidence;   // why, for a person: "its fields are those of ModelProto"; in the arena
  os_str candidates; // other messages that the bytes could be, "OptionalProto, MapProto"; may be empty
  unsigned fits;     // a bit for each of these
} os_sniff;
// Finds the kind by content: how the file begins, then how well it fits each message. Reads a few kB. With
// OS_KIND_UNKNOWN the evidence says what the file is ("a Git LFS pointer ..."), as far as that can be told.
os_status os_onnx_sniff(const os_source *source, os_arena *arena, os_sniff *out);

// Files beside the document, for external tensor data. The callee has already checked that the name stays inside the folder.
typedef enum os_external_state {
  OS_EXTERNAL_FOUND,
  OS_EXTERNAL_MISSING,
  OS_EXTERNAL_UNREADABLE
} os_external_state;
typedef struct os_external {
  // Fills `out` (valid as long as the document). UNREADABLE: it is there, but not for a synchronous call.
  os_status (*open)(void *context, os_str location, os_source *out, os_external_state *state);
  void *context;
} os_external;

typedef struct os_document_names {
  os_str *items;
  size_t count, room;
} os_document_names;

// A decoded file. Everything in it lives until os_document_close.
typedef struct os_document {
  os_memory *memory;
  os_arena arena;
  os_source source; // bytes are borrowed unless given with os_document_own
  os_kind kind;
  union {
    ProtobufCMessage *root;
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph;
    Onnx__FunctionProto *function;
    Onnx__TensorProto *tensor;
    Onnx__SparseTensorProto *sparse_tensor;
    Onnx__SequenceProto *sequence;
    Onnx__MapProto *map;
    Onnx__OptionalProto *optional;
    Onnx__OperatorSetProto *operator_set;
  };
  ProtobufCMessage *outline; // the same, or a message without long lists: then `root` may be NULL
  os_document_names
      initializers; // of an outline's main graph, sparse ones too, that have the name of an input or output
  os_skeleton skeleton;
  os_arena scratch, whole; // whole: has `root` when that is not the outline
  bool sniffed;            // the kind was found by content
  os_str candidates;       // what else it could be, when the kind was found by content
  os_external external;    // open NULL = no files
  void *owned;
  os_decoding decoding; // as long as it is being opened
  os_decoder *decoder;
} os_document;

typedef struct os_document_options {
  os_kind as;              // OS_KIND_UNKNOWN = by content
  const os_limits *limits; // may be NULL
  const os_stop *stop;     // may be NULL
  os_external external;
  uint32_t shared; // as in os_decoding
  bool
      outline; // check all of it, but decode long lists (os_proto_field_is_long) when os_document_whole asks for them
} os_document_options;

// Opens and decodes. OS_MALFORMED: not such a document; findings (wire.*, onnx.document.kind) say why. Nothing is left open
// unless OS_OK or OS_NEEDS_HOST (then os_document_resume). `report` has its own arena and outlives the document.
os_status os_document_open(os_memory *memory, const os_source *source, const os_document_options *options,
                           os_report *report, os_document **out);
os_status os_document_resume(os_document *self, os_report *report);
// Decodes what an outline has left out; `root` is there afterwards. Nothing to do for other documents.
os_status os_document_whole(os_document *self);
// Takes that back: only the outline is left. Whoever has changed the message keeps it.
void os_document_forget(os_document *self);
static inline void *os_document_outline(const os_document *self) {
  return self->root != NULL ? self->root : self->outline;
}
// Of a model, or what is one by itself, perhaps without its long lists; NULL: there is none.
const Onnx__GraphProto *os_document_graph(const os_document *self);
// Tells `seen` of each message of the long lists, which is forgotten afterwards, then of what else there is: of the whole
// message, or its outline, once.
os_status os_document_each(os_document *self, os_status (*seen)(void *context, const void *message),
                           void *context);
// The document frees `block` (of os_memory_alloc, the source's bytes) when it is closed.
void os_document_own(os_document *self, void *block);
void os_document_close(os_document *self); // accepts NULL

// Checks the root of a tensor, sparse tensor, sequence, map, optional or operator set (data_check.h); other kinds have no
// findings here.
os_status os_document_check_data(os_document *self, os_report *report);

#endif

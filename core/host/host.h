#ifndef OPSPEC_HOST_H
#define OPSPEC_HOST_H

#include "bundle.h"
#include "document.h"
#include "host_operator.h"
#include "json_write.h"
#include "model.h"
#include "session.h"
#include "spec.h"
#include "text.h"
#include "trial.h"

#include <opspec/opspec.h>

// What the handles of opspec.h are.

struct opspec_env {
  os_memory memory;
  os_arena arena; // registry, schemas: as long as the Env
  os_limits limits;
  opspec_host host;
  os_types *types;
  os_registry *registry;
  os_spec_checker checker;
  bool checker_ready;
  os_text output;
  os_arena scratch;                // of one call
  os_document *decoded;            // what the last decode's addresses point into
  uint64_t serial;                 // counts models and registrations
  struct opspec_model *models;     // alive
  struct opspec_operator *retired; // unregistered, perhaps still in use by a model
};

// Bytes that the host reads: a window for small pieces, and what was brought in for good.
typedef struct os_host_range {
  uint64_t offset;
  os_str bytes;
} os_host_range;
typedef struct os_host_source {
  os_source source;
  opspec_env *env;
  uint32_t number;
  struct { // ascending
    os_host_range *items;
    size_t count, room;
  } ranges;
  uint8_t *window;
  uint64_t window_at;
  size_t window_size;
} os_host_source;

// A file that external data named, asked for once.
typedef struct os_host_external {
  struct os_host_external *next;
  os_external_state state;
  os_host_source far; // .env NULL: it is in memory, or not there
  os_source source;
} os_host_external;

// Files of one call or handle, as bundles and as external data.
typedef struct os_host_files {
  opspec_env *env;
  os_bundle bundle;
  os_external external;
  os_arena *arena;
  char side;        // 'a' or 'b' of a comparison, else 0
  os_map locations; // to os_host_external
  os_host_external *opened;
  void **blocks; // what the host handed over
  size_t block_count, block_room;
} os_host_files;

struct opspec_model {
  opspec_env *env;
  struct opspec_model *next, *previous;
  uint64_t serial;
  uint32_t refs; // the handle and its sessions
  os_arena arena;
  os_host_files files;
  os_host_source bytes; // .env NULL: the document is in memory
  os_document *document;
  bool edited; // the document says more than its bytes
  // Edited while it had sessions: the document uses the bytes and files of the one that they were made from.
  struct opspec_model *base;
  os_model *model;
  os_report report; // of decoding and of building the index, which is made when first asked for
  size_t decoded;   // findings of decoding: the checker tells the others again
};

struct opspec_session {
  opspec_model *model;
  os_session *session;
  os_stop stop;
};

struct opspec_run {
  opspec_model *model;
  os_run *run;
};

struct opspec_operator {
  opspec_env *env;
  struct opspec_operator *next; // among the retired
  uint64_t retired_at;
  os_arena arena;
  os_host_operator operator;
  os_document *document; // of a function operator
  os_model *model;       // its index
};

struct opspec_test {
  opspec_env *env;
  os_arena arena;
  os_host_files files;
  void *zip;
  os_spec_list specs;
  os_case_list cases;
  os_report report;
};

struct opspec_trial {
  opspec_env *env;
  os_trial *trial;
};

// Empties output and scratch: how every call that answers a status begins.
void os_host_begin(opspec_env *self);
// Puts { message, path?, findings? } into the output; answers the status. `report` may be NULL.
os_status os_host_fail(opspec_env *self, os_status status, os_str message, os_str path, os_report *report);
os_status os_host_trouble(opspec_env *self, const os_trouble *trouble);
// OS_OUT_OF_MEMORY when the output could not be written.
os_status os_host_end(opspec_env *self);
// A report as the output.
os_status os_host_report(opspec_env *self, os_report *report, bool packed);
// "spec", "evidence", "json": texts, not messages.
bool os_host_is_json_kind(os_str as);
// Compiled when first needed.
os_status os_host_checker(opspec_env *self, const os_spec_checker **out);
void os_host_free_operator(opspec_operator *self);
// Opens, checks and indexes what a function operator runs; schema->body is its graph then.
os_status os_host_function(opspec_operator *self, op_schema *schema, os_str bytes, os_report *report);
// Frees registrations that no model can refer to any more.
void os_host_sweep(opspec_env *self);
os_stop os_host_stop(opspec_env *self, double timeout_ms);
os_progress os_host_progress(const opspec_env *self, const opspec_check_options *options);

// Lists live in `arena`; blocks until close.
os_status os_host_files_open(os_host_files *self, opspec_env *env, os_arena *arena,
                             const opspec_files *files);
void os_host_files_close(os_host_files *self);
// os_external.open of files.
os_status os_host_open_external(void *files, os_str location, os_source *out, os_external_state *state);
os_status os_host_ask(os_host_files *self, os_str name, os_str *bytes, opspec_far *far, opspec_file *state);
// In place: it must not move.
void os_host_source_init(os_host_source *self, opspec_env *env, opspec_far far);
void os_host_source_close(os_host_source *self); // accepts a zeroed one

// Registers a model without a document, and takes it back.
os_status os_host_new_model(opspec_env *env, const opspec_files *files, opspec_model **out);
// What decoding found, in a report of the caller's strictness.
os_status os_host_add_findings(os_report *to, const os_report *from, size_t count);
// Findings about the bytes of an edited model are to be about those that it has now: pieces of the old ones, before it is
// looked at, and the findings afterwards. Nothing happens to models that were not edited.
typedef struct os_host_moving {
  os_arena *arena;
  uint64_t at;
  struct {
    struct os_host_moved *items;
    size_t count, room;
  } pieces;
} os_host_moving;
os_status os_host_begin_moving(opspec_model *self, os_host_moving *out);
void os_host_move(const opspec_model *self, const os_host_moving *moving, os_report *report);
// Models from this size on are opened as outlines: smaller ones take little memory anyhow.
enum { OS_HOST_OUTLINE = 1 << 16 };
// The main graph, perhaps without its long lists; an empty one when there is none.
const Onnx__GraphProto *os_host_graph(const opspec_model *self);
// { kind, inputs, outputs } as the output.
os_status os_host_describe(opspec_model *self);
// The model could not be opened: says why and frees it.
os_status os_host_not_opened(opspec_model *self, os_status status);

// A message in memory as a tape (host_objects.c); `size` is about that of its bytes.
os_status os_host_write_objects(opspec_env *env, const void *message, size_t size);

// "name": and a JSON string.
void os_host_write_member(os_text *out, const char *name, os_str value);

#endif

// The only C that knows JavaScript: what wasm/src/engine.js calls (OS_EXPORT) and what it offers (OS_IMPORT).
//
// A port is one Env with the buffers that calls share:
//   result   { status, address, size }: how the last call ended and what it left (opspec.h says what)
//   table    binary64 numbers: dims, addresses, lengths of texts
//   text     bytes: texts of the caller, one after the other, their lengths in the table; messages
// A call that takes texts has their number as an argument. Handles are addresses; 0 = the call failed.

#include "families.h"
#include "host.h"
#include "node_json.h"
#include "utf8.h"

// Exports have no other caller than the module's host, so no header declares them.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#define OS_EXPORT(name) __attribute__((export_name(#name), visibility("default"))) name
#define OS_IMPORT(name) __attribute__((import_module("host"), import_name(#name)))

// Each answers what its comment says; a failed one has put a message into the port's text (opspec_fail).
OS_IMPORT(now) double host_now(void);
// 0 found (block in the result slot's address and size), 1 missing, 2 unreadable, 3 outside (number in that address, size
// in table[0]).
OS_IMPORT(file) int host_file(const char *name, size_t length);
// 0 done, 2 not there yet, otherwise it cannot be read.
OS_IMPORT(read) int host_read(uint32_t number, double offset, size_t n, void *to);
// 0 taken.
OS_IMPORT(take) int host_take(const char *text, size_t length);
// Instance > 0, or 0 = failed. `json`: the node.
OS_IMPORT(create) uint32_t host_create(uint32_t kernel, const char *json, size_t length);
OS_IMPORT(destroy) void host_destroy(uint32_t instance);
OS_IMPORT(forget) void host_forget(uint32_t kernel);
// Length of the JSON in the port's text, or -1 = failed.
OS_IMPORT(infer) int host_infer(uint32_t kernel, const char *json, size_t length);
// 0 done, 2 the outputs come later, otherwise failed. The table holds the inputs (os_port_write_values), then for each
// output whether it is wanted.
OS_IMPORT(compute) int host_compute(uint32_t instance, op_run *run, uint32_t inputs, uint32_t outputs);

// 0 go on.
OS_IMPORT(progress) int host_progress(double part);

typedef struct os_port {
  struct {
    uint32_t status;
    const void *address;
    size_t size;
  } result;
  double *table;
  char *text;
  uint32_t plain; // the result is long and ASCII
  size_t table_room, text_room, text_size;
  opspec_env *env;
  os_text json; // for the host's eyes
  os_memory memory;
} os_port;

enum { OS_PORT_TABLE = 1024, OS_PORT_TEXT = 4096, OS_PORT_NAMES = 65536 };

// ---- Buffers ----------------------------------------------------------------------------------------------

double *OS_EXPORT(opspec_table)(os_port *self, size_t count) {
  if (count > self->table_room) {
    double *table = os_memory_realloc(&self->memory, self->table, count * sizeof *table);
    if (table == NULL) return NULL;
    self->table = table;
    self->table_room = count;
  }
  return self->table;
}

char *OS_EXPORT(opspec_text)(os_port *self, size_t size) {
  if (size > self->text_room) {
    char *text = os_memory_realloc(&self->memory, self->text, size);
    if (text == NULL) return NULL;
    self->text = text;
    self->text_room = size;
  }
  return self->text;
}

// The host's message of this length stands in the text.
void OS_EXPORT(opspec_fail)(os_port *self, size_t size) { self->text_size = size; }
static os_str os_port__message(const os_port *self) { return (os_str){self->text, self->text_size}; }

void *OS_EXPORT(opspec_block)(os_port *self, size_t size) { return opspec_alloc(self->env, size); }
void OS_EXPORT(opspec_drop)(os_port *self, void *block) { opspec_free(self->env, block); }
double OS_EXPORT(opspec_used)(os_port *self) { return (double)opspec_memory_used(self->env); }

static void os_port__leave(os_port *self, os_str result) {
  self->result.address = result.data;
  self->result.size = result.len;
  self->plain = result.len >= OS_PORT_TEXT && os_utf8_is_ascii(result);
}

static uint32_t os_port__end(os_port *self, os_status status) {
  self->result.status = (uint32_t)status;
  os_port__leave(self, opspec_output(self->env));
  return (uint32_t)status;
}

// Splits the text into `count` strings by the lengths that stand in the table from `at` on.
static void os_port__strings(const os_port *self, size_t at, size_t count, os_str *out) {
  const char *next = self->text;
  for (size_t i = 0; i < count; i++) {
    out[i] = (os_str){next, (size_t)self->table[at + i]};
    next += out[i].len;
  }
}

// ---- What the core asks of the host -----------------------------------------------------------------------

static double os_port__now(void *context) {
  (void)context;
  return host_now();
}

static opspec_file os_port__file(void *context, os_str name, os_str *bytes, opspec_far *far) {
  os_port *self = context;
  int state = host_file(name.data, name.len);
  if (state == OPSPEC_FILE_FOUND) *bytes = (os_str){self->result.address, self->result.size};
  if (state == OPSPEC_FILE_FAR)
    *far = (opspec_far){(uint32_t)(uintptr_t)self->result.address, (uint64_t)self->table[0]};
  return (opspec_file)state;
}

static os_status os_port__read(void *context, uint32_t number, uint64_t offset, size_t n, void *to) {
  (void)context;
  int state = host_read(number, (double)offset, n, to);
  return state == 0 ? OS_OK : state == 2 ? OS_NEEDS_HOST : OS_UNSUPPORTED;
}

static os_status os_port__create(void *context, uint32_t kernel, op_create *ctx, uint32_t *instance) {
  os_port *self = context;
  os_arena scratch;
  os_arena_init(&scratch, &self->memory);
  self->json.len = 0;
  os_text_char(&self->json, '{');
  os_node_write_json(&self->json, &scratch, self->env->types, op_create_node(ctx));
  os_text_char(&self->json, '}');
  os_arena_clear(&scratch);
  if (self->json.failed) return OS_OUT_OF_MEMORY;
  *instance = host_create(kernel, self->json.data, self->json.len);
  if (*instance != 0) return OS_OK;
  os_str message = os_port__message(self);
  return op_create_fail(ctx, "%.*s", OS_ARG(message));
}

static void os_port__destroy(void *context, uint32_t instance) {
  (void)context;
  host_destroy(instance);
}

static void os_port__forget(void *context, uint32_t kernel) {
  (void)context;
  host_forget(kernel);
}

static os_status os_port__infer(void *context, uint32_t kernel, op_infer *ctx) {
  os_port *self = context;
  self->json.len = 0;
  OS_TRY(os_infer_write_json(&self->json, ctx));
  int length = host_infer(kernel, self->json.data, self->json.len);
  if (length >= 0) return os_infer_read_json(ctx, (os_str){self->text, (size_t)length});
  os_str message = os_port__message(self);
  return op_infer_fail(ctx, OP_FAULT_VALUE, "%.*s", OS_ARG(message));
}

// ---- Values -----------------------------------------------------------------------------------------------

enum { OS_PORT_VALUE = 8 }; // numbers of a value, its dims left out

// address, kind, element type, rank, count, data, items, type; then rank dims. Answers where the next one goes.
static size_t os_port__write_value(os_port *self, size_t at, const op_value *value) {
  const op_tensor *head = value == NULL ? NULL : opspec_value_head(value);
  size_t rank = head == NULL ? 0 : (size_t)head->rank;
  double *to = opspec_table(self, at + OS_PORT_VALUE + rank);
  if (to == NULL) return at;
  to += at;
  memset(to, 0, OS_PORT_VALUE * sizeof *to);
  if (value == NULL) return at + OS_PORT_VALUE;
  to[0] = (double)(uintptr_t)value;
  to[1] = (double)op_value_kind(value);
  to[2] = (double)head->elem;
  to[3] = (double)rank;
  to[4] = (double)head->count;
  to[5] = (double)(uintptr_t)head->data;
  to[6] = op_value_kind(value) == OP_TENSOR ? 0 : (double)opspec_value_count(value);
  to[7] = (double)op_value_type(value);
  for (size_t i = 0; i < rank; i++) to[OS_PORT_VALUE + i] = (double)head->dims[i];
  return at + OS_PORT_VALUE + rank;
}

void OS_EXPORT(opspec_describe)(os_port *self, const op_value *value) {
  os_port__write_value(self, 0, value);
}
op_value *OS_EXPORT(opspec_item)(const op_value *value, size_t index) {
  return opspec_value_at(value, index);
}
const op_value *OS_EXPORT(opspec_keys)(const op_value *map) {
  return (const op_value *)opspec_value_keys(map);
}
void OS_EXPORT(opspec_release)(op_value *value) { op_value_release(value); }

static bool os_port__dims(const os_port *self, int32_t rank, int64_t *dims) {
  if (rank < 0 || rank > OP_MAX_RANK) return false;
  for (int32_t i = 0; i < rank; i++) {
    if (!(self->table[i] >= 0 && self->table[i] <= 9007199254740992.0)) return false;
    dims[i] = (int64_t)self->table[i];
  }
  return true;
}

// Dims are in the table, where the address of the data then is. 0: memory is exhausted.
op_value *OS_EXPORT(opspec_new_tensor)(os_port *self, uint32_t elem, int32_t rank) {
  int64_t dims[OP_MAX_RANK];
  op_value *value =
      os_port__dims(self, rank, dims) ? opspec_tensor(self->env, (op_elem)elem, rank, dims) : NULL;
  if (value != NULL) self->table[0] = (double)(uintptr_t)op_value_tensor(value)->data;
  return value;
}

op_value *OS_EXPORT(opspec_new_sequence)(os_port *self, op_type type) {
  return opspec_sequence(self->env, type);
}
uint32_t OS_EXPORT(opspec_add)(op_value *sequence, op_value *item) {
  return (uint32_t)opspec_sequence_add(sequence, item);
}
op_value *OS_EXPORT(opspec_new_optional)(os_port *self, op_type type, op_value *inner) {
  return opspec_optional(self->env, type, inner);
}
op_value *OS_EXPORT(opspec_new_sparse)(os_port *self, uint32_t elem, op_value *values, op_value *indices,
                                       int32_t rank) {
  int64_t dims[OP_MAX_RANK];
  if (os_port__dims(self, rank, dims))
    return opspec_sparse(self->env, (op_elem)elem, values, indices, rank, dims);
  op_value_release(values);
  op_value_release(indices);
  return NULL;
}
// Addresses of the values are in the table.
op_value *OS_EXPORT(opspec_new_map)(os_port *self, op_type type, op_value *keys, size_t count) {
  op_value **values = os_memory_alloc(&self->memory, (count + 1) * sizeof *values);
  op_value *map = NULL;
  if (values != NULL) {
    for (size_t i = 0; i < count; i++) values[i] = (op_value *)(uintptr_t)self->table[i];
    map = opspec_map(self->env, type, keys, values, count);
  }
  os_memory_free(&self->memory, values);
  return map;
}

// Strings of a tensor, one after the other at `bytes`, their lengths in the table.
uint32_t OS_EXPORT(opspec_set_strings)(os_port *self, op_value *value, const char *bytes) {
  op_tensor *tensor = op_value_edit(value);
  for (int64_t i = 0; i < tensor->count; i++) {
    size_t length = (size_t)self->table[i];
    os_status status = op_string_set(tensor, i, (os_str){bytes, length});
    if (status != OS_OK) return (uint32_t)status;
    bytes += length;
  }
  return OS_OK;
}

// The other way round: bytes in the result slot, lengths in the table. The length of what is no UTF-8 is negative.
uint32_t OS_EXPORT(opspec_get_strings)(os_port *self, const op_value *value) {
  const op_tensor *tensor = opspec_value_head(value);
  const os_str *strings = tensor->data;
  double *lengths = opspec_table(self, (size_t)tensor->count + 1);
  if (lengths == NULL) return self->result.status = OS_OUT_OF_MEMORY;
  self->json.len = 0;
  for (int64_t i = 0; i < tensor->count; i++) {
    bool text = os_utf8_valid(strings[i]) == strings[i].len;
    lengths[i] = text ? (double)strings[i].len : -(double)strings[i].len;
    os_text_put(&self->json, strings[i]);
  }
  os_port__leave(self, os_text_str(&self->json));
  return self->result.status = self->json.failed ? OS_OUT_OF_MEMORY : OS_OK;
}

op_type OS_EXPORT(opspec_type_of)(os_port *self, size_t length) {
  return opspec_type(self->env, (os_str){self->text, length});
}
void OS_EXPORT(opspec_type_text)(os_port *self, op_type type) {
  os_str name = opspec_type_name(self->env, type);
  os_port__leave(self, name);
}

op_value *OS_EXPORT(opspec_read)(os_port *self, const char *bytes, size_t size, size_t kind, uint32_t files) {
  op_value *value = NULL;
  os_status status =
      opspec_value_read(self->env, (os_str){bytes, size}, (os_str){self->text, kind}, files != 0, &value);
  return os_port__end(self, status) == OS_OK ? value : NULL;
}
uint32_t OS_EXPORT(opspec_write)(os_port *self, const op_value *value, size_t name) {
  return os_port__end(self, opspec_value_write(self->env, value, (os_str){self->text, name}));
}
// null gives 0 with status 0.
op_value *OS_EXPORT(opspec_parse)(os_port *self, const char *bytes, size_t size) {
  op_value *value = NULL;
  os_port__end(self, opspec_value_parse(self->env, (os_str){bytes, size}, &value));
  return value;
}

// ---- Kernels ----------------------------------------------------------------------------------------------

static os_status os_port__compute(void *context, uint32_t instance, op_run *run) {
  os_port *self = context;
  uint32_t inputs = op_run_input_count(run), outputs = op_run_output_count(run);
  size_t at = 0;
  for (uint32_t i = 0; i < inputs; i++) at = os_port__write_value(self, at, op_run_input_value(run, i));
  if (opspec_table(self, at + outputs) == NULL) return OS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < outputs; i++) self->table[at + i] = op_run_has_output(run, i) ? 1 : 0;
  int state = host_compute(instance, run, inputs, outputs);
  if (state == OS_OK || state == OS_NEEDS_HOST) return (os_status)state;
  os_str message = os_port__message(self);
  return op_run_fail(run, "%.*s", OS_ARG(message));
}

// Where an output's data goes; dims in the table. 0: memory is exhausted, or (table[0] 1) inference has said another shape
// or type, which is then described in the table from 1 on.
void *OS_EXPORT(opspec_output_data)(os_port *self, op_run *run, uint32_t index, uint32_t elem, int32_t rank) {
  int64_t dims[OP_MAX_RANK];
  if (!os_port__dims(self, rank, dims)) return NULL;
  op_tensor *tensor = op_run_output(run, index);
  if (tensor == NULL) tensor = op_run_allocate(run, index, (op_elem)elem, rank, dims);
  self->table[0] = 0;
  if (tensor == NULL) return NULL;
  bool same = tensor->elem == (op_elem)elem && tensor->rank == rank;
  for (int32_t i = 0; same && i < rank; i++) same = tensor->dims[i] == dims[i];
  if (same) {
    self->table[1] = (double)(uintptr_t)tensor;
    return tensor->data;
  }
  os_port__write_value(self, 1, (const op_value *)tensor);
  self->table[0] = 1;
  return NULL;
}

// Where the data of an output goes whose shape inference knows, and if asked what it is, in the table. 0: only the kernel
// knows.
void *OS_EXPORT(opspec_output_head)(os_port *self, op_run *run, uint32_t index, uint32_t describe) {
  const op_tensor *tensor = op_run_output(run, index);
  if (describe != 0) os_port__write_value(self, 0, (const op_value *)tensor);
  if (describe != 0 && tensor == NULL && os_run_starved(run)) self->table[0] = -1;
  return tensor == NULL ? NULL : tensor->data;
}

// Takes the reference.
void OS_EXPORT(opspec_output_value)(op_run *run, uint32_t index, op_value *value) {
  op_run_set_output(run, index, value);
}

uint32_t OS_EXPORT(opspec_add_operator)(os_port *self, const char *document, size_t size, int since,
                                        uint32_t kernel, uint32_t flags) {
  opspec_operator *operator= NULL;
  os_port__end(self, opspec_register(self->env, (os_str){document, size}, since, kernel, flags, &operator));
  return (uint32_t)(uintptr_t)operator;
}
uint32_t OS_EXPORT(opspec_add_function)(os_port *self, const char *document, size_t size, int since,
                                        const char *body, size_t body_size) {
  opspec_operator *operator= NULL;
  os_port__end(self, opspec_register_function(self->env, (os_str){document, size}, since,
                                              (os_str){body, body_size}, &operator));
  return (uint32_t)(uintptr_t)operator;
}
// Texts: domain, name. A kernel for an operator of the standard.
uint32_t OS_EXPORT(opspec_add_kernel)(os_port *self, int since, uint32_t kernel, uint32_t flags) {
  os_str names[2];
  opspec_operator *operator= NULL;
  os_port__strings(self, 0, 2, names);
  os_port__end(self, opspec_register_kernel(self->env, names[0], names[1], since, kernel, flags, &operator));
  return (uint32_t)(uintptr_t)operator;
}
void OS_EXPORT(opspec_remove_operator)(opspec_operator *operator) { opspec_unregister(operator); }

static os_status os_port__progress(void *context, double part) {
  (void)context;
  return host_progress(part) == 0 ? OS_OK : OS_ABORTED;
}

// ---- The Env ----------------------------------------------------------------------------------------------

void OS_EXPORT(opspec_close)(os_port *self) {
  os_memory memory = self->memory;
  opspec_env_free(self->env);
  os_memory_free(&memory, self->table);
  os_memory_free(&memory, self->text);
  os_text_clear(&self->json);
  os_memory_free(&memory, self);
}

os_port *OS_EXPORT(opspec_open)(double bytes, double memory, uint32_t findings, uint32_t depth) {
  os_memory own = {0};
  os_port *self = os_memory_calloc(&own, sizeof *self);
  if (self == NULL) return NULL;
  self->memory = own;
  os_text_init(&self->json, &self->memory);
  opspec_options options = {
      .bytes = (uint64_t)bytes,
      .memory = (uint64_t)memory,
      .findings = findings,
      .depth = depth,
      .families = op_families,
      .host = {self, os_port__now, os_port__file, os_port__read, os_port__create, os_port__destroy,
               os_port__forget, os_port__infer, os_port__compute, os_port__progress},
  };
  bool ready = opspec_table(self, OS_PORT_TABLE) != NULL && opspec_text(self, OS_PORT_TEXT) != NULL &&
               opspec_env_new(&options, &self->env) == OS_OK;
  if (ready) return self;
  opspec_close(self);
  return NULL;
}

// ---- Documents --------------------------------------------------------------------------------------------

enum { OS_PORT_STRICT = 1, OS_PORT_FULL = 2, OS_PORT_FILES = 4, OS_PORT_COMPLETE = 8, OS_PORT_PROGRESS = 16 };

// Names of files are the texts from `first` on.
static bool os_port__files(os_port *self, uint32_t flags, size_t first, size_t count, opspec_files *out,
                           os_str *names) {
  *out = (opspec_files){.given = (flags & OS_PORT_FILES) != 0, .complete = (flags & OS_PORT_COMPLETE) != 0};
  os_port__strings(self, 0, first + count, names);
  out->names = names + first;
  out->count = count;
  return true;
}

static os_str *os_port__names(os_port *self, size_t count) {
  return os_memory_alloc(&self->memory, (count + 1) * sizeof(os_str));
}

// Texts: `as`, then the names of files. bytes 0: a bundle that the files are.
uint32_t OS_EXPORT(opspec_do_check)(os_port *self, const char *bytes, size_t size, uint32_t flags,
                                    double timeout, size_t files) {
  os_str few[2], *names = files == 0 ? few : os_port__names(self, files + 1);
  if (names == NULL) return os_port__end(self, OS_OUT_OF_MEMORY);
  opspec_check_options options = {.timeout_ms = timeout};
  options.strict = (flags & OS_PORT_STRICT) != 0;
  options.full = (flags & OS_PORT_FULL) != 0;
  options.progress = (flags & OS_PORT_PROGRESS) != 0;
  options.packed = true;
  os_port__files(self, flags, 1, files, &options.files, names);
  options.as = names[0];
  os_status status = bytes == NULL ? opspec_check_bundle(self->env, &options)
                                   : opspec_check(self->env, (os_str){bytes, size}, &options);
  if (names != few) os_memory_free(&self->memory, names);
  return os_port__end(self, status);
}

uint32_t OS_EXPORT(opspec_do_decode)(os_port *self, const char *bytes, size_t size, size_t as) {
  return os_port__end(self, opspec_decode(self->env, (os_str){bytes, size}, (os_str){self->text, as}));
}
uint32_t OS_EXPORT(opspec_do_format)(os_port *self, const char *bytes, size_t size, size_t as, uint32_t form,
                                     uint32_t lossy) {
  return os_port__end(self, opspec_format(self->env, (os_str){bytes, size}, (os_str){self->text, as},
                                          (opspec_form)form, lossy != 0));
}
uint32_t OS_EXPORT(opspec_do_encode)(os_port *self, const char *text, size_t size, const char *bytes,
                                     size_t bytes_size, size_t as, uint32_t form) {
  return os_port__end(self, opspec_encode(self->env, (os_str){text, size}, (os_str){bytes, bytes_size},
                                          (os_str){self->text, as}, (opspec_form)form));
}
uint32_t OS_EXPORT(opspec_do_layout)(os_port *self, size_t as) {
  return os_port__end(self, opspec_layout(self->env, (os_str){self->text, as}));
}
void OS_EXPORT(opspec_end_decode)(os_port *self) { opspec_decode_end(self->env); }
uint32_t OS_EXPORT(opspec_do_diff)(os_port *self, const char *a, size_t a_size, const char *b, size_t b_size,
                                   size_t as, uint32_t files, double timeout) {
  bool given[2] = {(files & 1) != 0, (files & 2) != 0};
  return os_port__end(self, opspec_diff(self->env, (os_str){a, a_size}, (os_str){b, b_size},
                                        (os_str){self->text, as}, given, timeout));
}
uint32_t OS_EXPORT(opspec_do_sniff)(os_port *self, const char *bytes, size_t size) {
  return os_port__end(self, opspec_sniff(self->env, (os_str){bytes, size}));
}
uint32_t OS_EXPORT(opspec_do_explain)(os_port *self, size_t rule) {
  return os_port__end(self, opspec_explain(self->env, (os_str){self->text, rule}));
}
uint32_t OS_EXPORT(opspec_list_rules)(os_port *self) { return os_port__end(self, opspec_rules(self->env)); }
uint32_t OS_EXPORT(opspec_list_operators)(os_port *self) {
  return os_port__end(self, opspec_operators(self->env));
}

// others: there are files, by URI.
opspec_schema *OS_EXPORT(opspec_new_schema)(os_port *self, const char *text, size_t size, uint32_t formats,
                                            uint32_t others) {
  opspec_schema *schema = NULL;
  os_port__end(self,
               opspec_schema_compile(self->env, (os_str){text, size}, formats != 0, others != 0, &schema));
  return schema;
}
uint32_t OS_EXPORT(opspec_do_validate)(os_port *self, opspec_schema *schema, const char *bytes, size_t size,
                                       uint32_t units) {
  return os_port__end(self, opspec_schema_validate(schema, (os_str){bytes, size}, units != 0));
}
void OS_EXPORT(opspec_free_schema)(opspec_schema *schema) { opspec_schema_free(schema); }

// ---- Models, sessions, runs -------------------------------------------------------------------------------

opspec_model *OS_EXPORT(opspec_load)(os_port *self, const char *bytes, size_t size, uint32_t flags,
                                     size_t files) {
  opspec_model *model = NULL;
  os_str *names = os_port__names(self, files);
  if (names == NULL) {
    os_port__end(self, OS_OUT_OF_MEMORY);
    return NULL;
  }
  opspec_files list;
  os_port__files(self, flags, 0, files, &list, names);
  os_status status = opspec_model_load(self->env, (os_str){bytes, size}, &list, &model);
  os_memory_free(&self->memory, names);
  os_port__end(self, status);
  return model;
}
// Texts: `as`, then names of files. The answer to this and to a resume is the model, which is to be resumed when the status
// says that it needs the host; 0 = it failed.
opspec_model *OS_EXPORT(opspec_open_model)(os_port *self, uint32_t number, double length, uint32_t flags,
                                           size_t files) {
  opspec_model *model = NULL;
  os_str *names = os_port__names(self, files + 1);
  if (names == NULL) {
    os_port__end(self, OS_OUT_OF_MEMORY);
    return NULL;
  }
  opspec_files list;
  os_port__files(self, flags, 1, files, &list, names);
  opspec_far far = {number, (uint64_t)length};
  os_status status = opspec_model_open(self->env, far, names[0], &list, &model);
  os_memory_free(&self->memory, names);
  os_port__end(self, status);
  return model;
}
opspec_model *OS_EXPORT(opspec_resume_model)(os_port *self, opspec_model *model) {
  os_port__end(self, opspec_model_resume(&model));
  return model;
}
uint32_t OS_EXPORT(opspec_list_payloads)(os_port *self, opspec_model *model, uint32_t all) {
  return os_port__end(self, opspec_model_payloads(model, all != 0));
}
uint32_t OS_EXPORT(opspec_put_payload)(opspec_model *model, uint32_t number, double offset, const char *bytes,
                                       size_t size) {
  return (uint32_t)opspec_model_put(model, number, (uint64_t)offset, (os_str){bytes, size});
}
// table: how many pieces, then offset (below 0 = new bytes) and length of each. The new bytes are the result.
uint32_t OS_EXPORT(opspec_cut_model)(os_port *self, opspec_model *model) {
  const opspec_piece *pieces;
  size_t count;
  os_status status = opspec_model_pieces(model, &pieces, &count);
  double *table = status == OS_OK ? opspec_table(self, 1 + 2 * count) : NULL;
  if (status == OS_OK && table == NULL) status = OS_OUT_OF_MEMORY;
  if (status == OS_OK) {
    *table++ = (double)count;
    for (size_t i = 0; i < count; i++) {
      *table++ = pieces[i].fresh ? -1 : (double)pieces[i].offset;
      *table++ = (double)pieces[i].length;
    }
  }
  return os_port__end(self, status);
}
// Answers the model that is meant from now on, which may be another one; 0 = nothing was changed.
opspec_model *OS_EXPORT(opspec_edit_model)(os_port *self, opspec_model *model, const char *edits,
                                           size_t size) {
  os_status status = opspec_model_edit(&model, (os_str){edits, size});
  return os_port__end(self, status) == OS_OK ? model : NULL;
}
uint32_t OS_EXPORT(opspec_list_nodes)(os_port *self, opspec_model *model) {
  return os_port__end(self, opspec_model_nodes(model));
}
uint32_t OS_EXPORT(opspec_write_model)(os_port *self, opspec_model *model, uint32_t form, uint32_t lossy) {
  return os_port__end(self, opspec_model_write(model, (opspec_form)form, lossy != 0));
}
static bool os_port__take(void *context, os_str written) {
  (void)context;
  return host_take(written.data, written.len) == 0;
}
uint32_t OS_EXPORT(opspec_send_model)(os_port *self, opspec_model *model, uint32_t form, uint32_t lossy) {
  return os_port__end(self, opspec_model_send(model, (opspec_form)form, lossy != 0, os_port__take, self));
}
uint32_t OS_EXPORT(opspec_check_model)(os_port *self, opspec_model *model, uint32_t flags, double timeout) {
  opspec_check_options options = {.timeout_ms = timeout};
  options.strict = (flags & OS_PORT_STRICT) != 0;
  options.full = (flags & OS_PORT_FULL) != 0;
  options.progress = (flags & OS_PORT_PROGRESS) != 0;
  return os_port__end(self, opspec_model_check(model, &options));
}
uint32_t OS_EXPORT(opspec_infer_model)(os_port *self, opspec_model *model, uint32_t bodies, double timeout) {
  return os_port__end(self, opspec_model_infer(model, bodies != 0, timeout));
}
void OS_EXPORT(opspec_free_model)(opspec_model *model) { opspec_model_free(model); }

// A session and the names of its inputs, so that a run names them by number.
typedef struct os_port_session {
  opspec_session *session;
  size_t count;
  os_str names[];
} os_port_session;

os_port_session *OS_EXPORT(opspec_new_session)(os_port *self, opspec_model *model, uint32_t seed_low,
                                               uint32_t seed_high, double timeout_ms) {
  opspec_session *session = NULL;
  os_status status = opspec_session_new(model, (uint64_t)seed_high << 32 | seed_low, timeout_ms, &session);
  os_port__end(self, status);
  if (status != OS_OK) return NULL;
  os_port_session *out = os_memory_calloc(&self->memory, sizeof *out);
  if (out == NULL) {
    opspec_session_free(session);
    os_port__end(self, OS_OUT_OF_MEMORY);
    return NULL;
  }
  out->session = session;
  return out;
}

// Texts: the names. Answers the session, which may have moved; 0 when memory is exhausted (the old one still stands).
os_port_session *OS_EXPORT(opspec_name_inputs)(os_port *self, os_port_session *session, size_t count,
                                               size_t size) {
  size_t head = sizeof *session + count * sizeof(os_str);
  os_port_session *out = os_memory_realloc(&self->memory, session, head + size);
  if (out == NULL) return NULL;
  memcpy((char *)out + head, self->text, size);
  const char *next = (char *)out + head;
  for (size_t i = 0; i < count; i++) {
    out->names[i] = (os_str){next, (size_t)self->table[i]};
    next += out->names[i].len;
  }
  out->count = count;
  return out;
}
void OS_EXPORT(opspec_free_session)(os_port *self, os_port_session *session) {
  opspec_session_free(session->session);
  os_memory_free(&self->memory, session);
}

// The table holds number and address of each input, then the lengths of the names of outputs, which are the texts.
opspec_run *OS_EXPORT(opspec_start)(os_port *self, os_port_session *session, size_t inputs, size_t outputs) {
  enum { FEW = 32 };
  opspec_input few[FEW], *feeds = few;
  os_str *names = NULL;
  opspec_run *run = NULL;
  if (inputs > FEW) feeds = os_memory_alloc(&self->memory, inputs * sizeof *feeds);
  if (outputs > 0) names = os_port__names(self, outputs);
  if (feeds != NULL) {
    for (size_t i = 0; i < inputs; i++) {
      size_t number = (size_t)self->table[2 * i];
      feeds[i].name = number < session->count ? session->names[number] : (os_str){"", 0};
      feeds[i].value = (op_value *)(uintptr_t)self->table[2 * i + 1];
    }
  }
  os_status status = OS_OUT_OF_MEMORY;
  if (feeds != NULL && (outputs == 0 || names != NULL)) {
    if (outputs > 0) os_port__strings(self, 2 * inputs, outputs, names);
    status = opspec_run_start(session->session, feeds, inputs, names, outputs, &run);
  }
  if (feeds != few) os_memory_free(&self->memory, feeds);
  os_memory_free(&self->memory, names);
  if (status != OS_OK) os_port__end(self, status);
  return run;
}

uint32_t OS_EXPORT(opspec_step)(os_port *self, opspec_run *run, double budget) {
  os_status status = opspec_run_step(run, (uint64_t)budget);
  if (status != OS_OK && status != OS_YIELD && status != OS_NEEDS_HOST) os_port__end(self, status);
  return (uint32_t)status;
}
// message: length of the text; `failed` 0 = the outputs are there.
void OS_EXPORT(opspec_answer)(os_port *self, opspec_run *run, uint32_t failed, size_t message) {
  opspec_run_answer(run, failed != 0 ? OS_OPERATOR_FAILED : OS_OK, (os_str){self->text, message});
}
op_value *OS_EXPORT(opspec_run_output)(const opspec_run *run, size_t index) {
  return opspec_run_result(run, index);
}
void OS_EXPORT(opspec_free_run)(opspec_run *run) { opspec_run_free(run); }

// ---- Evidence ---------------------------------------------------------------------------------------------

// Texts: names of files. zip 0: the files are the bundle.
opspec_test *OS_EXPORT(opspec_new_test)(os_port *self, const char *zip, size_t size, uint32_t flags,
                                        size_t files) {
  opspec_test *test = NULL;
  os_str *names = os_port__names(self, files);
  opspec_files list;
  if (names == NULL) {
    os_port__end(self, OS_OUT_OF_MEMORY);
    return NULL;
  }
  os_port__files(self, flags, 0, files, &list, names);
  os_port__end(self, opspec_test_open(self->env, (os_str){zip, size}, &list, &test));
  os_memory_free(&self->memory, names);
  return test;
}
uint32_t OS_EXPORT(opspec_get_test_file)(os_port *self, opspec_test *test, size_t name) {
  return os_port__end(self, opspec_test_file(test, (os_str){self->text, name}));
}
uint32_t OS_EXPORT(opspec_list_test_files)(os_port *self, opspec_test *test) {
  return os_port__end(self, opspec_test_names(test));
}
void OS_EXPORT(opspec_free_test)(opspec_test *test) { opspec_test_free(test); }
opspec_trial *OS_EXPORT(opspec_new_trial)(os_port *self, opspec_test *test, size_t index, uint32_t check) {
  opspec_trial *trial = NULL;
  os_port__end(self, opspec_trial_start(test, index, check != 0, &trial));
  return trial;
}
uint32_t OS_EXPORT(opspec_step_trial)(os_port *self, opspec_trial *trial, double budget) {
  os_status status = opspec_trial_step(trial, (uint64_t)budget);
  if (status != OS_OK && status != OS_YIELD && status != OS_NEEDS_HOST) os_port__end(self, status);
  return (uint32_t)status;
}
void OS_EXPORT(opspec_answer_trial)(os_port *self, opspec_trial *trial, uint32_t failed, size_t message) {
  opspec_trial_answer(trial, failed != 0 ? OS_OPERATOR_FAILED : OS_OK, (os_str){self->text, message});
}
uint32_t OS_EXPORT(opspec_end_trial)(os_port *self, opspec_trial *trial, uint32_t misbehaved) {
  return os_port__end(self, opspec_trial_end(trial, misbehaved != 0));
}
void OS_EXPORT(opspec_free_trial)(opspec_trial *trial) { opspec_trial_free(trial); }

// ---- Identity ---------------------------------------------------------------------------------------------

// Version of the package and number of this interface, which wasm/src/loader.js compares with its own: count it up with
// every change that the other side must know.
const char *OS_EXPORT(opspec_build)(void) { return OPSPEC_VERSION "/17"; }

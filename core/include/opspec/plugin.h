#ifndef OPSPEC_PLUGIN_H
#define OPSPEC_PLUGIN_H

// A plug-in: operators in a WebAssembly module of their own, which has its own memory and sees nothing of its host's. They
// are the same rows as those that are linked into the build (operator.h). In one source file:
//
//   #define OPSPEC_PLUGIN_IMPLEMENTATION
//   #include <opspec/plugin.h>
//   static const op_row rows[] = {{.domain = "org.example", .op_type = "Twice", .since = 1, .infer = ..., .compute = ...}};
//   OP_PLUGIN(registry) { return op_plugin_add(registry, &rows[0], NULL); }
//
// Build it with clang --target=wasm32 -nostdlib -Wl,--no-entry or emcc --no-entry. There is no libc in the first case; what
// the compiler itself calls (memcpy, memset, ...) is here.
//
// What of operator.h is not here, and then is an undefined symbol: subgraphs and control flow, maps, sparse tensors, epilogues.
// Different here: op_create_elem knows no types; dims that are no numbers survive arithmetic only where it changes nothing
// (N + 0), and are unknown otherwise; op_infer_set_small and op_infer_set_element tell the host nothing; op_plan_constant
// has no values; what is packed or taken in place brings nothing. Inputs are copied in once, outputs out once.

#include <opspec/operator.h>

enum { OP_PLUGIN_ABI = 1 };

typedef struct op_plugin op_plugin;

// Registers the row, which is borrowed for ever. `document`: its operator-extension document (JSON), NULL where the host
// has one. OS_INVALID_ARGUMENT after RegisterCustomOps has returned.
os_status op_plugin_add(op_plugin *registry, const op_row *row, const char *document);
os_status op_plugin_add_family(op_plugin *registry, const op_family *family);

#define OP_PLUGIN(registry)                                                                           \
  __attribute__((export_name("RegisterCustomOps"))) os_status RegisterCustomOps(op_plugin *registry); \
  os_status RegisterCustomOps(op_plugin *registry)

// A plug-in in the roles of MLOperatorAuthor, with <opspec/author.h> included before: the body registers with `registry`.
#define OP_AUTHOR_PLUGIN(registry)                                          \
  static MLStatus op_plugin__author(MLOperatorRegistry *registry);          \
  OP_PLUGIN(plugin) { return op_plugin__roles(plugin, op_plugin__author); } \
  static MLStatus op_plugin__author(MLOperatorRegistry *registry)

#ifdef OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/plugin_memory.h>
#include <opspec/plugin_rows.h>
#endif

#endif

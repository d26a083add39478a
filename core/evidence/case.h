#ifndef OPSPEC_CASE_H
#define OPSPEC_CASE_H

#include "compare.h"
#include "spec.h"

// One piece of evidence, found but not yet read: an evidence document, or a data set in ONNX's layout.

typedef enum os_stage { OS_STAGE_ANY, OS_STAGE_CHECK, OS_STAGE_INFER, OS_STAGE_RUN } os_stage;

typedef struct os_case {
  os_str name;         // as a person knows it: "below-zero.json", "gap/test_data_set_0"
  os_str path;         // file that findings name; of a data set its folder
  const os_spec *spec; // NULL: the evidence names its operator, or brings a model
  os_str problem;      // why it cannot be run; empty = it can

  // An evidence document.
  os_json_document document; // root NULL for a data set
  os_str domain, op_type, overload;

  // A data set: files by number, and the model beside it.
  const os_bundle *files;
  os_str folder; // "gap/test_data_set_0/"
  os_file model; // state OS_FILE_MISSING when there is none

  const os_tolerance *tolerance; // NULL: as the evidence says
} os_case;

typedef struct os_case_list {
  os_case *items;
  size_t count, room;
} os_case_list;

// All evidence of a bundle: what each document's `tests` name; without a document all evidence documents and data sets
// that are there. Evidence documents are checked (evidence.* findings in `report`); one that is found faulty has `problem`.
os_status os_cases_find(const os_spec_checker *checker, os_arena *arena, const os_bundle *bundle,
                        const os_spec_list *specs, os_report *report, os_case_list *out);

// What an evidence document expects instead of outputs.
typedef struct os_expected_error {
  bool expected;
  os_stage stage;
  os_str contains;
  const os_json *node;
} os_expected_error;
os_expected_error os_case_error(const os_case *self);
// Tolerance of an output. Data sets: rtol 1e-3, atol 1e-7, as the standard's own tests.
os_tolerance os_case_tolerance(const os_case *self, size_t output);
// A file "input_3.pb" of a data set; OS_FILE_MISSING when there is none.
os_status os_case_file(const os_case *self, os_arena *arena, const char *stem, size_t index, os_file *out);

#endif

// Runs folders in ONNX's test layout (model.onnx, test_data_set_N/input_i.pb, output_i.pb) through the executor alone,
// without the checker:
//
//   corpus_driver [--quiet] [--times N] FOLDER...
//
// Prints a line a data set, "PASS name", "FAIL name: why", "SKIP name: why" (an operator without a kernel), and counts.
// Exit 1 when one failed. Tolerances are the standard's: rtol 1e-3, atol 1e-7, six DFT tests 1e-6; Bernoulli by shape.
// --quiet leaves out PASS lines; --times N runs each N times (for a leak check or a profile).

#include "families.h"
#include "trial.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file_list {
  os_file *items;
  size_t count, room;
} file_list;

static os_arena arena; // of one folder
static os_memory memory;
static int counts[4];

static os_str read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return (os_str){NULL, 0};
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *data = os_arena_alloc(&arena, (size_t)size + 1);
  size_t got = fread(data, 1, (size_t)size, file);
  fclose(file);
  return (os_str){data, got};
}

// All files of the folder and of the folders directly below it.
static void read_folder(file_list *files, const char *path, const char *prefix, int depth) {
  DIR *folder = opendir(path);
  if (folder == NULL) return;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    os_str full = os_arena_format(&arena, "%s/%s%c", path, entry->d_name, '\0');
    os_str name = os_arena_format(&arena, "%s%s%c", prefix, entry->d_name, '\0');
    DIR *inner = opendir(full.data);
    if (inner != NULL) {
      closedir(inner);
      os_str below = os_arena_format(&arena, "%s%s/%c", prefix, entry->d_name, '\0');
      if (depth > 0) read_folder(files, full.data, below.data, depth - 1);
      continue;
    }
    os_file *file = OS_PUSH(&arena, files);
    *file =
        (os_file){.name = {name.data, name.len - 1}, .bytes = read_file(full.data), .state = OS_FILE_BYTES};
  }
  closedir(folder);
}

static os_tolerance tolerance_of(const char *name) {
  os_tolerance out = {.rtol = 1e-3, .atol = 1e-7, .unsigned_zero = true};
  if (strncmp(name, "test_dft", 8) == 0) out.atol = 1e-6;
  if (strncmp(name, "test_bernoulli", 14) == 0) out.shape_only = true;
  return out;
}

static os_verdict run_case(os_registry *registry, const os_case *item, os_str *message) {
  os_trial_setting setting = {.memory = &memory, .registry = registry};
  os_trial *trial;
  const os_report *report;
  if (os_trial_new(&setting, item, &trial) != OS_OK) {
    *message = OS_STR("memory is exhausted");
    return OS_ERRORED;
  }
  while (os_trial_step(trial, 1000) == OS_YIELD) {
  }
  os_verdict verdict = os_trial_end(trial, false, message, &report);
  *message = os_arena_copy(&arena, *message);
  os_trial_free(trial);
  return verdict;
}

static void run_folder(os_registry *registry, const char *path, bool quiet, int times) {
  static const char *const verdicts[] = {"PASS", "FAIL", "SKIP", "FAIL"};
  const char *name = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
  file_list files = {0};
  os_arena_init(&arena, &memory);
  read_folder(&files, path, "", 1);
  os_bundle bundle = {.files = files.items, .count = files.count, .complete = true};
  os_tolerance tolerance = tolerance_of(name);
  os_case item = {.files = &bundle, .tolerance = &tolerance};
  os_bundle_find(&bundle, OS_STR("model.onnx"), &item.model);
  for (int set = 0;; set++) {
    os_file first;
    item.folder = os_arena_format(&arena, "test_data_set_%d/", set);
    item.name = item.path = item.folder;
    os_bundle_find(&bundle, os_arena_format(&arena, "%.*soutput_0.pb", OS_ARG(item.folder)), &first);
    if (first.state != OS_FILE_BYTES) break;
    os_str message = {"", 0};
    os_verdict verdict = OS_ERRORED;
    for (int i = 0; i < times; i++) verdict = run_case(registry, &item, &message);
    counts[verdict]++;
    if (verdict == OS_PASSED && quiet) continue;
    printf("%s %s%s%.*s\n", verdicts[verdict], name, message.len == 0 ? "" : ": ", OS_ARG(message));
    fflush(stdout);
  }
  os_arena_clear(&arena);
}

int main(int argc, char **argv) {
  os_arena kept;
  os_arena_init(&kept, &memory);
  os_registry *registry = os_registry_new(&kept, os_types_new(&kept), op_families);
  bool quiet = false;
  int times = 1;
  for (int i = 1; i < argc; i++) {
    size_t length = strlen(argv[i]);
    if (strcmp(argv[i], "--quiet") == 0)
      quiet = true;
    else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc)
      times = atoi(argv[++i]);
    else {
      while (length > 1 && argv[i][length - 1] == '/') argv[i][--length] = '\0';
      run_folder(registry, argv[i], quiet, times);
    }
  }
  os_arena_clear(&kept);
  int failed = counts[OS_FAILED] + counts[OS_ERRORED];
  printf("%d passed, %d failed, %d skipped\n", counts[OS_PASSED], failed, counts[OS_SKIPPED]);
  return failed > 0;
}

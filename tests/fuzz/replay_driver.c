// Runs a fuzz target on given files, and on the files of given folders, without a fuzzer: replay PATH...
// Exit 0: all ran. 2: a path cannot be read, or there was no input at all.
#define _DEFAULT_SOURCE // opendir

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return -1;
  size_t size = 0, capacity = 4096;
  uint8_t *data = malloc(capacity);
  while (data != NULL) {
    size += fread(data + size, 1, capacity - size, file);
    if (size < capacity) break;
    capacity *= 2;
    uint8_t *larger = realloc(data, capacity);
    if (larger == NULL) free(data);
    data = larger;
  }
  fclose(file);
  if (data == NULL) return -1;
  // A block of exactly this size, so that a sanitizer sees the first byte past it.
  uint8_t *exact = malloc(size > 0 ? size : 1);
  if (exact != NULL) memcpy(exact, data, size);
  free(data);
  if (exact == NULL) return -1;
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 1;
}

// The number of files run, or -1. One level of folders, as fuzzers keep their corpora.
static long replay_folder(const char *path, DIR *folder) {
  long count = 0;
  const struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    char name[4096];
    if (entry->d_name[0] == '.') continue;
    if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name) return -1;
    DIR *inner = opendir(name);
    if (inner != NULL) {
      closedir(inner);
      continue;
    }
    if (replay_file(name) < 0) return -1;
    count++;
  }
  return count;
}

int main(int argc, char **argv) {
  long total = 0;
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    long count = folder != NULL ? replay_folder(argv[i], folder) : replay_file(argv[i]);
    if (folder != NULL) closedir(folder);
    if (count < 0) {
      fprintf(stderr, "cannot run: %s\n", argv[i]);
      return 2;
    }
    total += count;
  }
  printf("%ld inputs\n", total);
  return total > 0 ? 0 : 2;
}

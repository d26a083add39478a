// Runs a fuzz target on given files, and on the files of given folders, without a fuzzer:
//
//   replay [--mutate COUNT] PATH...
//
// With --mutate each file is run COUNT times, cut or with some bits flipped, the same way in every run.
// Exit 0: all ran. 2: a path cannot be read, or there was no input at all.
#define _DEFAULT_SOURCE // opendir

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long mutations = 0;

static uint32_t mutate_next(uint32_t *state, uint32_t below) {
  *state = *state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)*state * below >> 32);
}

// Runs the target on a block of exactly this size, so that a sanitizer sees the first byte past it.
static int replay_bytes(const uint8_t *data, size_t size) {
  uint8_t *exact = malloc(size > 0 ? size : 1);
  if (exact == NULL) return -1;
  memcpy(exact, data, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 1;
}

// Half of the flips go to the file's ends: the middle of a model is mostly weights.
static int replay_mutated(uint8_t *data, size_t size, uint32_t seed) {
  uint32_t state = seed, end = size < 4096 ? (uint32_t)size : 4096;
  if (size == 0 || size > UINT32_MAX) return 1;
  if (mutate_next(&state, 4) == 0) return replay_bytes(data, mutate_next(&state, (uint32_t)size));
  size_t places[4];
  uint8_t bits[4];
  uint32_t flips = 1 + mutate_next(&state, 4);
  for (uint32_t i = 0; i < flips; i++) {
    uint32_t where = mutate_next(&state, 4);
    if (where == 0)
      places[i] = mutate_next(&state, end);
    else if (where == 1)
      places[i] = size - 1 - mutate_next(&state, end);
    else
      places[i] = mutate_next(&state, (uint32_t)size);
    bits[i] = (uint8_t)(1u << mutate_next(&state, 8));
    data[places[i]] ^= bits[i];
  }
  int ran = replay_bytes(data, size);
  for (uint32_t i = flips; i-- > 0;) data[places[i]] ^= bits[i];
  return ran;
}

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
  int ran = mutations == 0 ? replay_bytes(data, size) : 1;
  for (long i = 0; i < mutations && ran > 0; i++) ran = replay_mutated(data, size, (uint32_t)i + 1);
  free(data);
  return ran;
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
  int first = 1;
  if (argc > 2 && strcmp(argv[1], "--mutate") == 0) {
    mutations = atol(argv[2]);
    first = 3;
  }
  for (int i = first; i < argc; i++) {
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

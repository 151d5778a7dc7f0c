/* Calls a Fortran kernel as KForge asks: --calls N --inputs FILE --outputs FILE.
 *
 * Both files are safetensors: eight bytes with the length of a JSON header, the header, the data. The outputs file is there
 * already, with its header; the kernel writes its results straight into it. Every tensor but params has a first axis over the
 * calls. The inputs' header says, under "__metadata__", in which order the kernel takes its arguments.
 *
 * KForge writes both headers, without blanks and escapes, so that looking for names in them is all the reading they need. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_ARGUMENTS 24

static void die(const char* what, const char* which) {
  fprintf(stderr, "runner: %s%s\n", what, which);
  exit(1);
}

struct file {
  char* bytes;
  const char* header; /* ends with a zero */
  char* data;
};

static struct file map_file(const char* path, int writable) {
  struct file file;
  struct stat about;
  uint64_t length;
  int fd = open(path, writable ? O_RDWR : O_RDONLY);
  if (fd < 0 || fstat(fd, &about) != 0 || about.st_size < 8) die("cannot read ", path);
  /* All pages at once: page faults would be part of the calls. */
  file.bytes = mmap(NULL, (size_t)about.st_size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                    (writable ? MAP_SHARED : MAP_PRIVATE) | MAP_POPULATE, fd, 0);
  if (file.bytes == MAP_FAILED) die("cannot map ", path);
  memcpy(&length, file.bytes, sizeof length);
  if (length > (uint64_t)about.st_size - 8) die("no header in ", path);
  file.header = strndup(file.bytes + 8, (size_t)length);
  file.data = file.bytes + 8 + length;
  close(fd);
  return file;
}

/* What follows "name": in the header. */
static const char* value_of(const struct file* file, const char* name) {
  char key[300];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char* at = strstr(file->header, key);
  return at ? at + strlen(key) : NULL;
}

/* The words of a text of the metadata. */
static int words_of(const struct file* file, const char* name, char* words[MOST_ARGUMENTS]) {
  const char* at = value_of(file, name);
  int count = 0;
  if (!at || *at != '"') return 0;
  char* text = strndup(at + 1, strcspn(at + 1, "\""));
  for (char* word = strtok(text, " "); word && count < MOST_ARGUMENTS; word = strtok(NULL, " ")) words[count++] = word;
  return count;
}

struct argument {
  char* data;
  size_t stride; /* from one call to the next */
};

static int find(const struct file* file, const char* name, long calls, int is_param, struct argument* found) {
  const char* at = value_of(file, name);
  size_t begin, end;
  if (!at || *at != '{') return 0;
  at = strstr(at, "\"data_offsets\":[");
  if (!at || sscanf(at, "\"data_offsets\":[%zu,%zu]", &begin, &end) != 2) die("no data of ", name);
  found->data = file->data + begin;
  found->stride = is_param ? 0 : (end - begin) / (size_t)calls;
  return 1;
}

/* The kernel: subroutine kernel(...) bind(C). Arguments beyond those it has are ignored by the calling conventions of
 * x86-64, Arm and RISC-V. */
extern void kernel(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                   void*, void*, void*, void*, void*, void*, void*, void*);

static void call(void** a) {
  kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18],
         a[19], a[20], a[21], a[22], a[23]);
}

int main(int argc, char** argv) {
  long calls = 0;
  const char *inputs_path = NULL, *outputs_path = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--calls")) calls = atol(argv[i + 1]);
    if (!strcmp(argv[i], "--inputs")) inputs_path = argv[i + 1];
    if (!strcmp(argv[i], "--outputs")) outputs_path = argv[i + 1];
  }
  if (calls < 1 || !inputs_path || !outputs_path) die("usage: --calls N --inputs FILE --outputs FILE", "");
  struct file inputs = map_file(inputs_path, 0), outputs = map_file(outputs_path, 1);
  char *names[MOST_ARGUMENTS], *params[MOST_ARGUMENTS];
  int count = words_of(&inputs, "arguments", names), param_count = words_of(&inputs, "params", params);
  struct argument arguments[MOST_ARGUMENTS] = {{0}};
  for (int i = 0; i < count; ++i) {
    int is_param = 0;
    for (int p = 0; p < param_count; ++p) is_param |= !strcmp(names[i], params[p]);
    /* One that is updated in place is in both files: the outputs' has its values, too. */
    if (!find(&outputs, names[i], calls, 0, &arguments[i]) && !find(&inputs, names[i], calls, is_param, &arguments[i]))
      die("there is no tensor ", names[i]);
  }
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long c = 0; c < calls; ++c) {
    void* pointers[MOST_ARGUMENTS];
    for (int i = 0; i < MOST_ARGUMENTS; ++i) pointers[i] = arguments[i].data + (size_t)c * arguments[i].stride;
    call(pointers);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  /* Shown beside KForge's own figure, never used. */
  printf("call_ns %.0f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (double)calls);
  return 0;
}

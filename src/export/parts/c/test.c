/* Calls the kernel once on the inputs stored here and compares what it gives with the expected values: a program
   to start from. Run it in this folder. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h" /* the tensors and the call, made for this kernel */

enum { kCount = sizeof kTensors / sizeof kTensors[0] };

/* "x.in", "y.expected": all its bytes. */
static char* read_all(const char* name, const char* ending, size_t* bytes) {
  char path[512];
  snprintf(path, sizeof path, "%s.%s", name, ending);
  FILE* file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "cannot read %s: run this in the folder test\n", path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char* content = malloc(*bytes ? *bytes : 1);
  if (!content || fread(content, 1, *bytes, file) != *bytes) exit(2);
  fclose(file);
  return content;
}

/* The kernel counts on 64-byte alignment. */
static char* allocate(const Tensor* tensor) {
  size_t bytes = (tensor->elements * tensor->element_bytes + 63) / 64 * 64;
  char* raw = malloc(bytes + 128);
  if (!raw) exit(2);
  char* memory = raw + 64 - (uintptr_t)raw % 64;
  memset(memory, 0xff, bytes);
  return memory; /* one call, then the program ends: nothing is given back */
}

/* A file holds the first elements of a tensor; they repeat to its end. */
static void fill(const Tensor* tensor, char* memory) {
  size_t stored, bytes = tensor->elements * tensor->element_bytes;
  char* block = read_all(tensor->name, "in", &stored);
  for (size_t at = 0; at < bytes; at += stored)
    memcpy(memory + at, block, bytes - at < stored ? bytes - at : stored);
  free(block);
}

static double half(uint16_t bits) {
  double sign = bits >> 15 ? -1 : 1, fraction = bits & 0x3ff;
  int exponent = bits >> 10 & 0x1f;
  if (exponent == 0x1f) return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexp(1 + fraction / 1024, exponent - 15) : ldexp(fraction / 1024, -14));
}

#define ELEMENT(type, memory, index) (*(const type*)((memory) + (index) * sizeof(type)))

static double float_element(const Tensor* tensor, const char* memory, size_t index) {
  if (!strcmp(tensor->dtype, "float64")) return ELEMENT(double, memory, index);
  if (!strcmp(tensor->dtype, "float16")) return half(ELEMENT(uint16_t, memory, index));
  if (strcmp(tensor->dtype, "bfloat16")) return (double)ELEMENT(float, memory, index);
  uint32_t bits = (uint32_t)ELEMENT(uint16_t, memory, index) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static int64_t int_element(const Tensor* tensor, const char* memory, size_t index) {
  const bool is_signed = tensor->dtype[0] == 'i';
  switch (tensor->element_bytes) {
    case 8:
      return ELEMENT(int64_t, memory, index);
    case 4:
      return is_signed ? ELEMENT(int32_t, memory, index) : (int64_t)ELEMENT(uint32_t, memory, index);
    case 2:
      return is_signed ? ELEMENT(int16_t, memory, index) : (int64_t)ELEMENT(uint16_t, memory, index);
    default:
      return is_signed ? ELEMENT(int8_t, memory, index) : (int64_t)ELEMENT(uint8_t, memory, index);
  }
}

static bool near(double got, double want, const Tensor* tensor) {
  if (isnan(want)) return isnan(got);
  if (isinf(want)) return got == want;
  return fabs(got - want) <= tensor->absolute + tensor->relative * fabs(want);
}

/* How many of the stored elements are wrong. */
static size_t compare(const Tensor* tensor, const char* memory) {
  size_t bytes, wrong = 0;
  char* want = read_all(tensor->name, "expected", &bytes);
  for (size_t i = 0; i < bytes / 8; ++i) {
    if (tensor->floating)
      wrong += !near(float_element(tensor, memory, i * tensor->every), ((const double*)want)[i], tensor);
    else
      wrong += int_element(tensor, memory, i * tensor->every) != ((const int64_t*)want)[i];
  }
  printf("%s: %zu of %zu elements compared, %zu wrong\n", tensor->name, bytes / 8, tensor->elements, wrong);
  free(want);
  return wrong;
}

int main(void) {
  char* memory[kCount];
  for (int i = 0; i < kCount; ++i) {
    memory[i] = allocate(&kTensors[i]);
    if (kTensors[i].given) fill(&kTensors[i], memory[i]);
  }
  call(memory);
  size_t wrong = 0;
  for (int i = 0; i < kCount; ++i)
    if (kTensors[i].compared) wrong += compare(&kTensors[i], memory[i]);
  puts(wrong == 0 ? "passed" : "FAILED");
  return wrong == 0 ? 0 : 1;
}

#include <opspec/status.h>

const char *os_status_code(os_status status) {
  switch (status) {
#define OPSPEC_STATUS(name, number, code, text) \
  case OS_##name: return code;
#include <opspec/status.def>
#undef OPSPEC_STATUS
  }
  return "crashed";
}

const char *os_status_text(os_status status) {
  switch (status) {
#define OPSPEC_STATUS(name, number, code, text) \
  case OS_##name: return text;
#include <opspec/status.def>
#undef OPSPEC_STATUS
  }
  return "the engine stopped and cannot go on";
}

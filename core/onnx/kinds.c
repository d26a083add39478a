#include "document.h"

static const struct {
  os_kind kind;
  const char *name, *message;
  const ProtobufCMessageDescriptor *type;
} kinds[] = {
#define OS_KIND(NAME, name, message, descriptor) {OS_KIND_##NAME, name, message, descriptor},
#include "kinds.def"
#undef OS_KIND
    {OS_KIND_JSON, "json", NULL, NULL},
    {OS_KIND_ZIP, "zip", NULL, NULL},
    {OS_KIND_TEXT, "text", NULL, NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *os_kind_name(os_kind kind) {
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].kind == kind) return kinds[i].name;
  return "unknown";
}

const ProtobufCMessageDescriptor *os_kind_type(os_kind kind) {
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].kind == kind) return kinds[i].type;
  return NULL;
}

os_kind os_kind_find(os_str name) {
  for (size_t i = 0; i < KINDS; i++)
    if (os_str_is(name, kinds[i].name) || (kinds[i].message != NULL && os_str_is(name, kinds[i].message)))
      return kinds[i].kind;
  return OS_KIND_UNKNOWN;
}

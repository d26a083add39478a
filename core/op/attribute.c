#include "node.h"

// As os_str_cmp, without a call: kernels ask at every run, for short names.
static int op_attribute__order(os_str name, os_str wanted) {
  for (size_t i = 0; i < name.len && i < wanted.len; i++)
    if (name.data[i] != wanted.data[i]) return (unsigned char)name.data[i] - (unsigned char)wanted.data[i];
  return (name.len > wanted.len) - (name.len < wanted.len);
}

// Attributes are sorted by name.
const op_attribute *os_node_attribute(const op_node *self, os_str name) {
  uint32_t low = 0, high = self->attribute_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    int order = op_attribute__order(self->attributes[middle].name, name);
    if (order == 0) return &self->attributes[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

const op_attribute *op_node_attribute(const op_node *self, const char *name) {
  return os_node_attribute(self, os_str_of(name));
}

static const op_attribute *op_attr__get(const op_node *node, const char *name, op_attr_kind kind) {
  const op_attribute *attribute = op_node_attribute(node, name);
  return attribute != NULL && attribute->kind == kind ? attribute : NULL;
}

os_str op_node_type(const op_node *node) { return node->op_type; }

int op_node_since(const op_node *node) { return node->schema == NULL ? 0 : node->schema->since; }

void *op_node_user(const op_node *node) { return node->row == NULL ? NULL : node->row->user; }

bool op_attr_has(const op_node *node, const char *name) { return op_node_attribute(node, name) != NULL; }

int64_t op_attr_int(const op_node *node, const char *name, int64_t fallback) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_INT);
  return attribute == NULL ? fallback : attribute->as.i;
}

double op_attr_float(const op_node *node, const char *name, double fallback) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_FLOAT);
  return attribute == NULL ? fallback : (double)attribute->as.f;
}

os_str op_attr_string(const op_node *node, const char *name, const char *fallback) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_STRING);
  return attribute == NULL ? os_str_of(fallback) : attribute->as.s;
}

const int64_t *op_attr_ints(const op_node *node, const char *name, size_t *count) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_INTS);
  *count = attribute == NULL ? 0 : attribute->count;
  return attribute == NULL ? NULL : attribute->as.ints;
}

const float *op_attr_floats(const op_node *node, const char *name, size_t *count) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_FLOATS);
  *count = attribute == NULL ? 0 : attribute->count;
  return attribute == NULL ? NULL : attribute->as.floats;
}

const os_str *op_attr_strings(const op_node *node, const char *name, size_t *count) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_STRINGS);
  *count = attribute == NULL ? 0 : attribute->count;
  return attribute == NULL ? NULL : attribute->as.strings;
}

const op_value *op_attribute_value(const op_attribute *self) {
  if (self->kind != OP_ATTR_TENSOR && self->kind != OP_ATTR_SPARSE) return NULL;
  if (self->as.value != NULL || self->lazy == NULL) return self->as.value;
  return self->lazy->value != NULL ? self->lazy->value : self->lazy->load(self->lazy);
}

const op_tensor *op_attr_tensor(const op_node *node, const char *name) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_TENSOR);
  if (attribute != NULL && attribute->lazy != NULL && attribute->lazy->value == NULL) {
    const op_tensor *head = attribute->lazy->head(attribute->lazy);
    if (head != NULL) return head;
  }
  const op_value *value = attribute == NULL ? NULL : op_attribute_value(attribute);
  return value == NULL ? NULL : op_value_tensor(value);
}

const op_value *op_attr_sparse(const op_node *node, const char *name) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_SPARSE);
  return attribute == NULL ? NULL : op_attribute_value(attribute);
}

op_type op_attr_type(const op_node *node, const char *name) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_TYPE);
  return attribute == NULL ? 0 : attribute->as.type;
}

const op_graph *op_attr_graph(const op_node *node, const char *name) {
  const op_attribute *attribute = op_attr__get(node, name, OP_ATTR_GRAPH);
  return attribute == NULL ? NULL : attribute->as.graph;
}

#include "check.h"
#include "fact.h"
#include "op_rules.h"

static os_memory memory;
static os_arena arena;
static os_types *types;

// ---- Signatures -------------------------------------------------------------------------------------------

static os_operator find(const os_registry *registry, const char *domain, const char *op_type, int version) {
  return os_registry_find(registry, os_str_of(domain), os_str_of(op_type), OS_STR(""), version);
}

static void test_standard(void) {
  os_registry *registry = os_registry_new(&arena, types, NULL);
  CHECK(find(registry, "", "Relu", 0).schema == NULL);
  CHECK(find(registry, "", "Reluu", 28).schema == NULL);
  CHECK(find(registry, "com.acme", "Relu", 28).schema == NULL);
  CHECK_EQ(find(registry, "", "Relu", 5).schema->since, 1);
  CHECK_EQ(find(registry, "", "Relu", 6).schema->since, 6);
  CHECK_EQ(find(registry, "ai.onnx", "Relu", 999).schema->since, 14);
  CHECK(find(registry, "", "Relu", 14).schema == find(registry, "", "Relu", 15).schema);
  CHECK(find(registry, "", "Upsample", 9).schema->deprecated == false);
  CHECK(find(registry, "", "Upsample", 10).schema->deprecated);
  CHECK_EQ(os_registry_domain_version(registry, OS_STR("ai.onnx")), 28);
  CHECK_EQ(os_registry_domain_version(registry, OS_STR("ai.onnx.ml")), 5);
  CHECK_EQ(os_registry_domain_version(registry, OS_STR("com.acme")), 0);
  CHECK(os_registry_knows_domain(registry, OS_STR("")) &&
        !os_registry_knows_domain(registry, OS_STR("com.acme")));

  const op_schema *conv = find(registry, "", "Conv", 22).schema;
  CHECK_EQ(conv->since, 22);
  CHECK_EQ(conv->min_inputs, 2);
  CHECK_EQ(conv->max_inputs, 3);
  CHECK_EQ(conv->input_count, 3);
  CHECK_STR(conv->inputs[2].name, "B");
  CHECK_EQ(conv->inputs[2].option, OP_OPTIONAL_PARAMETER);
  const op_type_parameter *t = &conv->type_parameters[conv->inputs[0].constraint];
  CHECK_STR(t->label, "T");
  CHECK_EQ(t->count, 4);
  CHECK_EQ(t->types[0], OP_FLOAT);
  const op_attribute_schema *auto_pad = op_schema_attribute(conv, OS_STR("auto_pad"));
  CHECK(auto_pad != NULL && auto_pad->has_default && !auto_pad->required);
  CHECK_STR(auto_pad->fallback.as.s, "NOTSET");
  CHECK_EQ(op_schema_attribute(conv, OS_STR("group"))->fallback.as.i, 1);
  CHECK(op_schema_attribute(conv, OS_STR("nothing")) == NULL);

  const op_schema *leaky = find(registry, "", "LeakyRelu", 16).schema;
  CHECK(leaky->function && leaky->attributes[0].fallback.as.f == 0.01f);
  const op_schema *concat = find(registry, "", "Concat", 13).schema;
  CHECK_EQ(concat->max_inputs, UINT16_MAX);
  CHECK_EQ(concat->inputs[0].min_arity, 1);
  CHECK(op_schema_attribute(concat, OS_STR("axis"))->required);
  CHECK(op_schema_parameter(concat->inputs, concat->input_count, 70) == &concat->inputs[0]);
  CHECK(op_schema_parameter(conv->inputs, conv->input_count, 3) == NULL);
  const op_schema *loop = find(registry, "", "Loop", 25).schema;
  CHECK_EQ(loop->inputs[2].min_arity, 0);
  CHECK(!loop->inputs[2].homogeneous);
  const op_schema *split = find(registry, "", "Split", 18).schema;
  CHECK_STR(split->type_parameters[split->inputs[1].constraint].label, "tensor(int64)");
  const op_schema *map = find(registry, "ai.onnx.ml", "DictVectorizer", 5).schema;
  os_str first = os_types_print(types, &arena, map->type_parameters[map->inputs[0].constraint].types[0]);
  CHECK(os_str_starts(first, OS_STR("map(")));
}

static void test_listing(void) {
  os_registry *registry = os_registry_new(&arena, types, NULL);
  size_t count = 0;
  const op_schema *last = NULL;
  for (os_operator op; (op = os_registry_at(registry, count)).schema != NULL; count++) {
    const op_schema *schema = op.schema;
    if (last != NULL) {
      int order = os_str_cmp(last->domain, schema->domain);
      if (order == 0) order = os_str_cmp(last->op_type, schema->op_type);
      CHECK(order < 0 || (order == 0 && last->since < schema->since));
    }
    CHECK(os_registry_find(registry, schema->domain, schema->op_type, OS_STR(""), schema->since).schema ==
          schema);
    CHECK(schema->min_inputs <= schema->max_inputs && schema->min_outputs <= schema->max_outputs);
    for (uint16_t i = 0; i < schema->input_count; i++)
      CHECK(schema->inputs[i].name.len > 0 &&
            schema->inputs[i].constraint < (int)schema->type_parameter_count);
    for (uint16_t i = 0; i < schema->type_parameter_count; i++) {
      CHECK(schema->type_parameters[i].count > 0);
      for (uint16_t j = 0; j < schema->type_parameters[i].count; j++)
        CHECK(os_types_get(types, schema->type_parameters[i].types[j]).kind != OS_TYPE_UNKNOWN);
    }
    last = schema;
  }
  CHECK_EQ(count, 659);
}

static void test_suggestions(void) {
  os_registry *registry = os_registry_new(&arena, types, NULL);
  os_str names[3];
  CHECK(os_registry_suggest(registry, OS_STR(""), OS_STR("Relue"), names, 3) >= 1);
  CHECK_STR(names[0], "Relu");
  CHECK(os_registry_suggest(registry, OS_STR(""), OS_STR("matmul"), names, 3) >= 1);
  CHECK_STR(names[0], "MatMul");
  CHECK_EQ(os_registry_suggest(registry, OS_STR(""), OS_STR("Zzzzzzzzz"), names, 3), 0);
  CHECK_EQ(os_registry_suggest(registry, OS_STR("com.acme"), OS_STR("Relu"), names, 3), 0);
  CHECK_EQ(os_registry_domains_of(registry, OS_STR("TreeEnsemble"), names, 3), 1);
  CHECK_STR(names[0], "ai.onnx.ml");
}

// ---- Rows and registering ---------------------------------------------------------------------------------

static const op_row rows[] = {
    {.domain = "", .op_type = "Softmax", .since = 13},
    {.domain = "", .op_type = "Softmax", .since = 1},
    {.domain = "", .op_type = "Relu", .since = 6},
    {.domain = "", .op_type = "NoSuchOperator", .since = 1},
};
OP_FAMILY(test, rows);

static void test_rows(void) {
  const op_family *const families[] = {&op_family_test, NULL};
  os_registry *registry = os_registry_new(&arena, types, families);
  CHECK(find(registry, "", "Softmax", 1).row == &rows[1]);
  CHECK(find(registry, "", "Softmax", 11).row == &rows[1]);
  CHECK(find(registry, "", "Softmax", 13).row == &rows[0]);
  CHECK(find(registry, "", "Relu", 1).row == NULL); // the row begins later
  CHECK(find(registry, "", "Relu", 14).row == &rows[2]);
  const op_row *row;
  CHECK_EQ(os_registry_unplaced(registry, &row), 1);
  CHECK(row == &rows[3]);
}

static op_schema schema_of(const char *domain, const char *op_type, const char *overload, int since) {
  return (op_schema){.domain = os_str_of(domain),
                     .op_type = os_str_of(op_type),
                     .overload = os_str_of(overload),
                     .since = since,
                     .source = "test"};
}

static void test_registering(void) {
  os_registry *registry = os_registry_new(&arena, types, NULL);
  op_schema one = schema_of("com.acme", "Thing", "", 1), three = schema_of("com.acme", "Thing", "", 3);
  op_schema other = schema_of("com.acme", "Thing", "wide", 2), mine = schema_of("", "Relu", "", 20);
  CHECK_EQ(os_registry_add(registry, &three, NULL), OS_OK);
  CHECK_EQ(os_registry_add(registry, &one, NULL), OS_OK);
  CHECK_EQ(os_registry_add(registry, &other, NULL), OS_OK);
  CHECK_EQ(os_registry_add(registry, &mine, NULL), OS_OK);
  op_schema same = schema_of("com.acme", "Thing", "", 3);
  CHECK_EQ(os_registry_add(registry, &same, NULL), OS_INVALID_ARGUMENT);
  CHECK(find(registry, "com.acme", "Thing", 2).schema == &one);
  CHECK(find(registry, "com.acme", "Thing", 9).schema == &three);
  CHECK(os_registry_find(registry, OS_STR("com.acme"), OS_STR("Thing"), OS_STR("wide"), 9).schema == &other);
  CHECK(find(registry, "", "Relu", 20).schema == &mine);
  CHECK_EQ(find(registry, "", "Relu", 19).schema->since, 14);
  CHECK(os_registry_knows_domain(registry, OS_STR("com.acme")));
  size_t count = 0, found = 0;
  for (os_operator op; (op = os_registry_at(registry, count)).schema != NULL; count++)
    found += !op.schema->standard;
  CHECK_EQ(count, 663);
  CHECK_EQ(found, 4);
  os_registry_remove(registry, &three);
  os_registry_remove(registry, &three);
  CHECK(find(registry, "com.acme", "Thing", 9).schema == &one);
  os_registry_remove(registry, &one);
  os_registry_remove(registry, &other);
  os_registry_remove(registry, &mine);
  CHECK(find(registry, "com.acme", "Thing", 9).schema == NULL);
  CHECK(!os_registry_knows_domain(registry, OS_STR("com.acme")));
  CHECK_EQ(find(registry, "", "Relu", 20).schema->since, 14);
  size_t used = memory.used;
  for (int i = 0; i < 1000; i++) {
    CHECK_EQ(os_registry_add(registry, &one, NULL), OS_OK);
    os_registry_remove(registry, &one);
  }
  CHECK_EQ(memory.used, used);
}

// ---- Attributes -------------------------------------------------------------------------------------------

static void test_attributes(void) {
  static const int64_t ints[] = {1, 2};
  const op_attribute attributes[] = {
      {.name = OS_STR("alpha"), .kind = OP_ATTR_FLOAT, .as.f = 0.5f},
      {.name = OS_STR("axes"), .kind = OP_ATTR_INTS, .count = 2, .as.ints = ints},
      {.name = OS_STR("axis"), .kind = OP_ATTR_INT, .as.i = -1},
      {.name = OS_STR("mode"), .kind = OP_ATTR_STRING, .as.s = OS_STR("linear")},
  };
  op_node node = {.op_type = OS_STR("X"), .attributes = attributes, .attribute_count = 4};
  size_t count;
  CHECK(op_attr_has(&node, "axis") && !op_attr_has(&node, "axi") && !op_attr_has(&node, "zz"));
  CHECK_EQ(op_attr_int(&node, "axis", 7), -1);
  CHECK_EQ(op_attr_int(&node, "other", 7), 7);
  CHECK_EQ(op_attr_int(&node, "alpha", 7), 7); // another kind
  CHECK(op_attr_float(&node, "alpha", 1) == 0.5);
  CHECK_STR(op_attr_string(&node, "mode", "nearest"), "linear");
  CHECK_STR(op_attr_string(&node, "axis", "nearest"), "nearest");
  CHECK(op_attr_ints(&node, "axes", &count) == ints && count == 2);
  CHECK(op_attr_ints(&node, "axis", &count) == NULL && count == 0);
  CHECK(op_attr_floats(&node, "axes", &count) == NULL && op_attr_strings(&node, "axes", &count) == NULL);
  CHECK(op_attr_tensor(&node, "axes") == NULL && op_attr_graph(&node, "axes") == NULL &&
        op_attr_type(&node, "axes") == 0);
  CHECK_EQ(op_node_since(&node), 0);
}

// ---- Inference --------------------------------------------------------------------------------------------

typedef struct scene {
  os_report report;
  os_inferring inferring;
  op_node node;
  op_fact in[3], out;
  const op_fact *inputs[3];
  op_fact *outputs[1];
  op_infer ctx;
} scene;

static void scene_open(scene *self, bool check) {
  *self = (scene){0};
  os_report_init(&self->report, &arena, false, 0);
  self->inferring = (os_inferring){.arena = &arena,
                                   .types = types,
                                   .dims = os_dims_new(&arena),
                                   .report = check ? &self->report : NULL,
                                   .path = OS_STR("graph.node[0]")};
  self->node = (op_node){.op_type = OS_STR("Add"), .name = OS_STR("sum")};
  for (int i = 0; i < 3; i++) self->inputs[i] = &self->in[i], self->in[i].rank = -1;
  self->out.rank = -1;
  self->outputs[0] = &self->out;
  self->ctx = (op_infer){.inferring = &self->inferring,
                         .node = &self->node,
                         .inputs = self->inputs,
                         .input_count = 2,
                         .outputs = self->outputs,
                         .output_count = 1};
}

static void set(scene *self, int input, int32_t rank, const op_dim *dims) {
  self->in[input] = (op_fact){.type = OP_FLOAT, .rank = rank, .dims = dims};
}

static void test_broadcast(void) {
  scene s;
  scene_open(&s, true);
  op_dim n = os_dims_symbol(s.inferring.dims, OS_STR("N")), m = os_dims_symbol(s.inferring.dims, OS_STR("M"));
  op_dim dims[OP_MAX_RANK];
  int32_t rank;
  const op_dim a[] = {2, 1, n}, b[] = {3, n};
  set(&s, 0, 3, a);
  set(&s, 1, 2, b);
  CHECK_EQ(op_infer_broadcast(&s.ctx, 0, 1, dims, &rank), OS_OK);
  CHECK_STR(os_dims_print_shape(s.inferring.dims, &arena, rank, dims), "[2, 3, N]");
  const op_dim c[] = {m}, d[] = {5}, e[] = {0}, f[] = {4};
  set(&s, 1, 1, c);
  CHECK_EQ(op_infer_broadcast(&s.ctx, 0, 1, dims, &rank), OS_OK);
  CHECK_STR(os_dims_print_shape(s.inferring.dims, &arena, rank, dims), "[2, 1, ?]");
  set(&s, 1, 1, d);
  CHECK_EQ(op_infer_broadcast(&s.ctx, 0, 1, dims, &rank), OS_OK);
  CHECK_STR(os_dims_print_shape(s.inferring.dims, &arena, rank, dims), "[2, 1, 5]");
  set(&s, 0, 0, NULL);
  set(&s, 1, 1, e);
  CHECK_EQ(op_infer_broadcast(&s.ctx, 0, 1, dims, &rank), OS_OK);
  CHECK_STR(os_dims_print_shape(s.inferring.dims, &arena, rank, dims), "[0]");
  set(&s, 1, -1, NULL);
  CHECK_EQ(op_infer_broadcast(&s.ctx, 0, 1, dims, &rank), OS_OK);
  CHECK_EQ(rank, -1);
  set(&s, 0, 1, d);
  set(&s, 1, 1, f);
  CHECK_EQ(op_infer_broadcast(&s.ctx, 0, 1, dims, &rank), OS_OPERATOR_FAILED);
  CHECK_EQ(s.report.counts[OS_ERROR], 1);
  const os_finding *finding = s.report.findings.items[0];
  CHECK(finding->rule == &os_rule_infer_shape_operator);
  CHECK_STR(finding->message, "Add: input 1 of shape [4] does not broadcast with [5]: 4 against 5");
  CHECK_STR(finding->where.path, "graph.node[0]");
  CHECK(finding->has_node);
}

static void test_run_mode(void) {
  scene s;
  scene_open(&s, false);
  int32_t axis;
  CHECK_EQ(op_infer_axis(&s.ctx, -1, 2, "axis", &axis), OS_OK);
  CHECK_EQ(axis, 1);
  CHECK_EQ(op_infer_axis(&s.ctx, 9, -1, "axis", &axis), OS_OK);
  CHECK_EQ(axis, 9);
  CHECK_EQ(op_infer_axis(&s.ctx, 9, 2, "axis", &axis), OS_OPERATOR_FAILED);
  CHECK_STR(s.inferring.message, "Add (node \"sum\"): axis is 9, which is outside of [-2, 1] for rank 2");
  CHECK_EQ(op_infer_axis(&s.ctx, 0, 0, "axis", &axis), OS_OPERATOR_FAILED);
  CHECK(s.inferring.message.len < 70); // the first one stays
}

static void test_facts(void) {
  scene s;
  scene_open(&s, true);
  static const op_dim ab[] = {2, 3}, ac[] = {2, 4};
  op_dim out;
  CHECK_EQ(op_infer_merge_dim(&s.ctx, OP_DIM_UNKNOWN, 3, "x", &out), OS_OK);
  CHECK_EQ(out, 3);
  op_dim n = os_dims_symbol(s.inferring.dims, OS_STR("N"));
  CHECK_EQ(op_infer_merge_dim(&s.ctx, n, OP_DIM_UNKNOWN, "x", &out), OS_OK);
  CHECK_EQ(out, n);
  CHECK_EQ(op_infer_merge_dim(&s.ctx, 2, 3, "channels", &out), OS_OPERATOR_FAILED);
  const op_fact *a = op_infer_make(&s.ctx, OP_FLOAT, 2, ab), *b = op_infer_make(&s.ctx, OP_FLOAT, 2, ac),
                *either;
  CHECK_EQ(op_infer_union(&s.ctx, a, b, &either), OS_OK);
  CHECK_STR(os_fact_print(&s.inferring, either), "tensor(float) [2, ?]");
  CHECK_EQ(op_infer_union(&s.ctx, a, op_infer_make(&s.ctx, OP_FLOAT, 0, NULL), &either), OS_OK);
  CHECK_EQ(op_fact_rank(either), -1);
  CHECK_EQ(op_infer_union(&s.ctx, a, op_infer_make(&s.ctx, OP_INT64, -1, NULL), &either), OS_OPERATOR_FAILED);
  op_infer_set_fact(&s.ctx, 0, a);
  CHECK_EQ(s.out.rank, 2);
  CHECK(op_infer_set_rank(&s.ctx, 0, OP_MAX_RANK + 1) == NULL);
  CHECK_EQ(s.ctx.trouble, OS_LIMIT);
  CHECK(op_infer_set_rank(&s.ctx, 5, 2) != NULL); // an output that the node leaves out
  op_type sequence = op_infer_sequence_of(&s.ctx, OP_FLOAT);
  CHECK_EQ(op_infer_element_of(&s.ctx, sequence), OP_FLOAT);
  CHECK_EQ(op_infer_element_of(&s.ctx, OP_FLOAT), 0);
  CHECK_EQ(op_infer_element_of(&s.ctx, op_infer_optional_of(&s.ctx, sequence)), sequence);
}

static void test_small(void) {
  scene s;
  scene_open(&s, true);
  int64_t data[] = {2, -1, INT64_MIN}, shape[] = {3};
  op_tensor tensor = {.elem = OP_INT64, .rank = 1, .dims = shape, .count = 3, .data = data};
  s.in[0].value = &tensor;
  size_t count;
  const op_dim *small = op_infer_small(&s.ctx, 0, &count);
  CHECK(small != NULL && count == 3 && small[0] == 2 && small[1] == -1 && small[2] == OP_DIM_UNKNOWN);
  CHECK(op_infer_small(&s.ctx, 1, &count) == NULL && count == 0);
  op_infer_set_small(&s.ctx, 0, small, 3, false);
  CHECK(s.out.small != NULL && s.out.small != small && s.out.small_count == 3);
  op_infer_set_value(&s.ctx, 0, &tensor);
  CHECK_EQ(s.out.type, OP_INT64);
  CHECK_EQ(s.out.dims[0], 3);
}

int main(void) {
  os_arena_init(&arena, &memory);
  types = os_types_new(&arena);
  test_standard();
  test_listing();
  test_suggestions();
  test_rows();
  test_registering();
  test_attributes();
  test_broadcast();
  test_run_mode();
  test_facts();
  test_small();
  for (size_t i = 0; i < os_op_rules.count; i++) CHECK(strlen(os_op_rules.rules[i]->id) > 0);
  os_arena_clear(&arena);
  CHECK_EQ(memory.used, 0);
  return CHECK_END();
}

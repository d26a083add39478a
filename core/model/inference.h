#ifndef OPSPEC_INFERENCE_H
#define OPSPEC_INFERENCE_H

#include "fact.h"
#include "model.h"

// Facts of all values of a graph, one per value number. facts[] of inputs and captured values are set by the caller
// (os_inference_declared gives what the model declares); initializers and everything else are filled in here. A node of an
// unknown operator leaves its outputs unknown and calls os_report_incomplete. With a NULL report the first fault ends
// it with OS_OPERATOR_FAILED and inferring->message.
os_status os_inference_run(os_inferring *self, os_model *model, const op_graph *graph, os_fact *facts);
// One node, from what facts[] says of its inputs.
os_status os_inference_node(os_inferring *self, os_model *model, const op_graph *graph, uint32_t node,
                            os_fact *facts);
// Fact of a declared input, output or value_info; dim_params become symbols of self->dims.
os_fact os_inference_declared(os_inferring *self, const Onnx__ValueInfoProto *declared);
// An inferring whose `body` hook works on this model.
void os_inference_init(os_inferring *self, os_arena *arena, os_model *model, os_registry *registry,
                       os_report *report);

#endif

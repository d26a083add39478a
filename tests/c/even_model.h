// An operator of a test's own, org.test.Even, whose kernel the test brings: its document, and a model that calls it.
#ifndef OPSPEC_EVEN_MODEL_H
#define OPSPEC_EVEN_MODEL_H

static const char even_document[] =
    "{\"kind\":\"runlocal.operator-extension\",\"protocol_version\":\"1.0\","
    "\"name\":\"even\",\"version\":\"1\","
    "\"authority\":\"specification\",\"operator\":{\"domain\":\"org.test\",\"op_"
    "type\":\"Even\",\"overload\":\"\"},"
    "\"inputs\":[{\"name\":\"X\",\"cardinality\":\"single\",\"type_parameter\":"
    "\"T\",\"description\":\"Input.\"}],"
    "\"outputs\":[{\"name\":\"Y\",\"cardinality\":\"single\",\"type_parameter\":"
    "\"T\",\"description\":\"Output.\"}],"
    "\"type_parameters\":{\"T\":{\"allowed_types\":[\"tensor(float)\"],"
    "\"description\":\"Type.\"}},\"attributes\":{},"
    "\"input_conditions\":[],\"shape_rules\":[\"`Y` has the shape of "
    "`X`.\"],\"boundary_behavior\":\"As it is.\","
    "\"numerical_behavior\":\"Exact.\",\"nondeterminism\":\"None.\",\"state_"
    "effects\":\"None.\",\"reference\":null,"
    "\"tests\":[]}";

// x: float[N] -> Neg -> Even -> y
static const unsigned char even_model[] = {
    0x08, 0x0a,                                                                  // ir_version 10
    0x3a, 0x4a,                                                                  // graph
    0x0a, 0x0b, 0x0a, 0x01, 'x',  0x12, 0x01, 'a',  0x22, 0x03, 'N',  'e',  'g', // node
    0x0a, 0x16, 0x0a, 0x01, 'a',  0x12, 0x01, 'y',  0x22, 0x04, 'E',  'v',  'e',  'n',  0x3a, 0x08, // node
    'o',  'r',  'g',  '.',  't',  'e',  's',  't',                                                  //
    0x12, 0x01, 'g',                                                                                // name
    0x5a, 0x0f, 0x0a, 0x01, 'x',  0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02,       // input
    0x12, 0x00,                                                                                     //
    0x62, 0x0f, 0x0a, 0x01, 'y',  0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02,       // output
    0x12, 0x00,                                                                                     //
    0x42, 0x04, 0x0a, 0x00, 0x10, 0x15,                                                 // opset_import 21
    0x42, 0x0c, 0x0a, 0x08, 'o',  'r',  'g',  '.',  't',  'e',  's',  't',  0x10, 0x01, //
};

#endif

// Small operator-extension documents for tests and benchmarks.

/** The text of a valid document for an operator with inputs X... and outputs Y... of float tensors. */
export function customSpec ({ domain, opType, inputs = ['X'], outputs = ['Y'], types = ['tensor(float)'], attributes = {}, tests = [] }) {
  const parameter = name => ({ name, cardinality: 'single', type_parameter: 'T', description: `Tensor ${name}.` })
  return JSON.stringify({
    kind: 'runlocal.operator-extension',
    protocol_version: '1.0',
    name: opType.toLowerCase(),
    version: '1',
    authority: 'specification',
    operator: { domain, op_type: opType, overload: '' },
    inputs: inputs.map(parameter),
    outputs: outputs.map(parameter),
    type_parameters: { T: { allowed_types: types, description: 'Element type.' } },
    attributes,
    input_conditions: [],
    shape_rules: outputs.map(name => `\`${name}\` has the shape of \`${inputs[0]}\`.`),
    boundary_behavior: 'Every value is taken as it is.',
    numerical_behavior: 'Exact.',
    nondeterminism: 'None.',
    state_effects: 'None.',
    reference: null,
    tests
  })
}

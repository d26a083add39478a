/** The message that each kind of document is. */
export const messages = {
  'model': 'ModelProto', 'graph': 'GraphProto', 'function': 'FunctionProto', 'tensor': 'TensorProto', 'sparse-tensor': 'SparseTensorProto', 'sequence': 'SequenceProto',
  'map': 'MapProto', 'optional': 'OptionalProto', 'operator-set': 'OperatorSetProto'
}

/** Documents that are JSON. */
export const jsonKinds = ['spec', 'evidence', 'json']

/** Those that are values, in the order of their numbers in the module, from 1 on. */
export const valueKinds = ['tensor', 'sparse-tensor', 'sequence', 'map', 'optional']

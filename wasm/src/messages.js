/** The message that each kind of document is. */
export const messages = {
  'model': 'ModelProto', 'graph': 'GraphProto', 'function': 'FunctionProto', 'tensor': 'TensorProto', 'sparse-tensor': 'SparseTensorProto', 'sequence': 'SequenceProto',
  'map': 'MapProto', 'optional': 'OptionalProto', 'operator-set': 'OperatorSetProto'
}

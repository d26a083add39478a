import { breaking, compatible, documentation } from './diff-rows.js'

// What env.diff can say of ONNX documents: operator sets, data, models and messages in general.

const SET = 'onnx-operators.proto, OperatorSetProto'
const OPERATOR = 'onnx-operators.proto, OperatorProto'
const FUNCTION = 'onnx.proto, FunctionProto'
const INTERFACE = 'ONNX IR specification, Graphs'
const DATA = 'onnx-data.proto; onnx.proto, TensorProto'
const MESSAGE = 'onnx.proto'

export const documentRows = [
  // ---- Operator sets -------------------------------------------------------------------------------------------------
  breaking('diff.opset.domain', 'An operator set of another domain', 'The domain is part of how nodes name an operator: in another domain no node finds it.',
    'com.example in both', 'com.example, then com.example.two', SET),
  breaking('diff.opset.same-version', 'Another content under the same version', 'Domain and version are what an operator set is known by, and a published one does not change. Give what is new a higher opset_version.',
    'version 1, then version 2 with one operator more', 'version 1 in both, one operator more in the second', SET),
  breaking('diff.opset.version-lowered', 'An earlier version of the operator set', 'Models that import the later version no longer find the set.',
    'opset_version 1, then 2', 'opset_version 2, then 1', SET),
  breaking('diff.opset.stable-removed', 'A stable operator was removed', 'Nodes of it are in models that are kept; what is published as STABLE stays.',
    'Foo in both', 'Foo, then none', OPERATOR),
  breaking('diff.opset.stable-changed', 'A stable operator was replaced by another version', 'In models that import the set, nodes of this name mean the new version from now on. Keep the name for what does the same, or say in the text what changes.',
    'Foo since 1 in both', 'Foo since 1, then Foo since 2', OPERATOR),
  breaking('diff.opset.stable-demoted', 'A stable operator became experimental', 'What is STABLE does not change any more; who relied on that no longer can.',
    'STABLE in both', 'STABLE, then EXPERIMENTAL', OPERATOR),
  breaking('diff.opset.function-removed', 'A function was removed', 'Nodes of it no longer have a meaning: neither a function nor an operator of the set has the name.',
    'function Bar in both', 'function Bar, then none', FUNCTION),
  breaking('diff.opset.function-signature', 'A function has another signature', 'Nodes list inputs and outputs by place and attributes by name; those that were written before may not fit.',
    'inputs x, y in both', 'inputs x, y, then x', FUNCTION),
  breaking('diff.opset.function-body', 'A function computes something else', 'The body is what the operator means. That two bodies do the same cannot be told from outside.',
    'the same nodes in both', 'a node Relu, then a node Abs', FUNCTION),
  breaking('diff.opset.more', 'More changes than are looked at', 'The functions of the two sets differ in so many places that not each was looked at; that nothing of it breaks cannot be said.',
    'a few changes', 'over ten thousand', FUNCTION),
  compatible('diff.opset.experimental-removed', 'An experimental operator was removed', 'EXPERIMENTAL operators may change or go; models that use them have to follow.', 'Foo in both', 'nothing', OPERATOR),
  compatible('diff.opset.experimental-changed', 'An experimental operator changed', 'EXPERIMENTAL operators may change or go; models that use them have to follow.', 'Foo since 1 in both', 'nothing', OPERATOR),
  compatible('diff.opset.since', 'A new operator is said to be older than its set', 'since_version is the version of the set that first had the operator: a new one has a version above that of the earlier set.',
    'set 1, then set 2 with Foo since 2', 'set 1, then set 2 with Foo since 1, which set 1 did not have', OPERATOR),
  compatible('diff.opset.operator-added', 'A new operator', 'No node that was written before is of it.', 'Foo, then Foo and Bar', 'nothing', SET),
  compatible('diff.opset.revision-added', 'A new version of an operator beside the old one', 'The old version stays in the set. A name should mean one operator: models that import the set get the newest.', 'Foo since 1, then Foo since 2, too', 'nothing', SET),
  compatible('diff.opset.promoted', 'An experimental operator became stable', 'From now on it does not change. The standard asks for a new entry with a later since_version.', 'EXPERIMENTAL since 1, then STABLE since 2', 'nothing', OPERATOR),
  compatible('diff.opset.text', 'A stable operator is described in other words', 'The text is all that an operator set says of what an operator does; no program can tell whether it still says the same.', 'the same doc_string in both', 'nothing', OPERATOR),
  compatible('diff.opset.function-added', 'A new function', 'Nodes of its name run it from now on.', 'Foo, then Foo and a function Bar', 'nothing', FUNCTION),
  compatible('diff.opset.body-removed', 'An operator lost its body', 'The operator stays, but nobody can run it who has no kernel for it.', 'a function Bar in both', 'nothing', FUNCTION),
  documentation('diff.opset.version-raised', 'A later version of the operator set', 'Every change of an operator set has a version of its own.', 'opset_version 1, then 2', 'nothing', SET),

  // ---- Data ----------------------------------------------------------------------------------------------------------
  breaking('diff.value.type', 'Values of another type', 'What takes the one does not take the other.', 'tensor(float) in both', 'tensor(float), then tensor(double)', DATA),
  breaking('diff.value.shape', 'Values of another shape', 'Elements stand at other places, or are more or fewer.', '[2, 3] in both', '[2, 3], then [3, 2]', DATA),
  breaking('diff.value.items', 'Other items or keys', 'A sequence, map or optional holds more or fewer items, or a map other keys.', '2 items in both', '2 items, then 3', DATA),
  breaking('diff.value.elements', 'Elements differ', 'By more than the tolerance that evidence has for the type: 1e-5 relative and 1e-7 absolute for float32, nothing for integers.', '1.5 in both', '1.5, then 1.6', DATA),
  compatible('diff.value.rounding', 'Elements differ within the tolerance', 'Two implementations that round differently give such values.', '0.1 in both', 'nothing', DATA),

  // ---- Models --------------------------------------------------------------------------------------------------------
  breaking('diff.model.input-removed', 'A model lost an input', 'Who runs it gives a value that it does not know.', 'inputs x, y in both', 'inputs x, y, then x', INTERFACE),
  breaking('diff.model.input-added', 'A model has a new input', 'Who runs it does not give it. An input with an initializer of its name may be left out.', 'input x in both', 'input x, then x and y', INTERFACE),
  breaking('diff.model.input-narrowed', 'An input of a model takes less', 'Values of a type or shape that was right are refused.', '["N", 3] in both', '["N", 3], then [1, 3]', INTERFACE),
  breaking('diff.model.output-removed', 'A model lost an output', 'Who runs it asks for a value that is not there.', 'outputs y, z in both', 'outputs y, z, then y', INTERFACE),
  breaking('diff.model.output-changed', 'An output of a model is something else', 'Its type or shape is another, or no longer known.', '[1, 3] in both', '[1, 3], then [1, 4]', INTERFACE),
  compatible('diff.model.input-widened', 'An input of a model takes more', 'Every value that was right stays right.', '[1, 3], then ["N", 3]', 'nothing', INTERFACE),
  compatible('diff.model.output-added', 'A model has a new output', 'Nobody asked for it so far.', 'y, then y and z', 'nothing', INTERFACE),
  compatible('diff.model.output-narrowed', 'More is known of an output of a model', 'A dim that could be anything is a number now.', '["N", 3], then [1, 3]', 'nothing', INTERFACE),
  compatible('diff.model.opset', 'A model imports other operator sets', 'Who runs it needs them; operators may mean something else in another version.', 'ai.onnx 21, then 22', 'nothing', 'onnx.proto, ModelProto.opset_import'),

  // ---- Messages in general -------------------------------------------------------------------------------------------
  compatible('diff.message.removed', 'Something was removed', 'What it did is to be judged by whoever knows the document.', 'a node in both', 'nothing', MESSAGE),
  compatible('diff.message.added', 'Something was added', 'What it does is to be judged by whoever knows the document.', 'a node more', 'nothing', MESSAGE),
  compatible('diff.message.changed', 'Something changed', 'What it does is to be judged by whoever knows the document.', 'another value of an attribute', 'nothing', MESSAGE),
  compatible('diff.message.order', 'Elements stand in another order', 'Nodes may be in any order in which values come before their use; of inputs and outputs some programs count places.', 'a, b, then b, a', 'nothing', MESSAGE),
  compatible('diff.message.unread', 'Elements were not compared', 'The elements of a tensor may lie in another file, and that file was not given or cannot be read. Whether they are the same is not known; `files` gives the files of both sides, and the command looks beside each document.',
    'the files of both at hand', 'nothing', 'onnx.proto, TensorProto.external_data'),
  compatible('diff.message.more', 'Further changes', 'So many places differ that not each is listed.', 'a few changes', 'nothing', MESSAGE),
  documentation('diff.message.text', 'A text for readers changed', 'doc_string, metadata and what says who made the document change no result.', 'the same doc_string in both', 'nothing', MESSAGE)
]

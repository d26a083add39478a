import { documentRows } from './diff-document-rules.js'
import { breaking, compatible, documentation } from './diff-rows.js'

// What env.diff can say: a row an id, in the order in which changes are listed, what breaks first. Here those of specifications.
//
// breaking: a node that was right with the first document may be refused with the second, or mean something else.

const OPERATOR = 'Operator extension 1.0, operator'
const PARAMETERS = 'Operator extension 1.0, inputs and outputs'
const TYPES = 'Operator extension 1.0, type parameters'
const ATTRIBUTES = 'Operator extension 1.0, attributes'
const TEXTS = 'Operator extension 1.0, texts'

const rows = [
  breaking('diff.operator.identity', 'Another operator', 'Domain, type and overload are how nodes name the operator. With another name no node finds it.',
    '"op_type": "Gelu" in both', '"op_type": "Gelu", then "FastGelu"', OPERATOR),
  breaking('diff.version.since-raised', 'A later since version', 'An integer version is the since version: models that import an older operator set no longer find the operator, unless the older document stays registered.',
    '"version": "1" in both', '"version": "1", then "2"', OPERATOR),
  breaking('diff.input.removed', 'An input was removed', 'Nodes that give it have an input too many, or give another one in its place.',
    'inputs x, y in both', 'inputs x, y, then x', PARAMETERS),
  breaking('diff.input.required-added', 'A new input that every node has to give', 'No node that was written before gives it. An optional input at the end breaks none.',
    'inputs x, then x and an optional y', 'inputs x, then x and a single y', PARAMETERS),
  breaking('diff.input.moved', 'An input stands at another place', 'Nodes list inputs by place, not by name: the value goes to another parameter.',
    'inputs x, y, then x, y, z', 'inputs x, y, then y, x', PARAMETERS),
  breaking('diff.input.cardinality-narrowed', 'An input takes fewer values', 'single takes one value, optional none or one, variadic any number. Nodes that used what is gone are refused.',
    'single, then optional', 'optional, then single', PARAMETERS),
  breaking('diff.output.removed', 'An output was removed', 'Nodes that name it have an output too many, or get another value in its place.',
    'outputs y, mask in both', 'outputs y, mask, then y', PARAMETERS),
  breaking('diff.output.required-added', 'A new output that every node has to name', 'No node that was written before names it. An optional output at the end breaks none.',
    'outputs y, then y and an optional mask', 'outputs y, then y and a single mask', PARAMETERS),
  breaking('diff.output.moved', 'An output stands at another place', 'Nodes list outputs by place, not by name: other values arrive.',
    'outputs y, mask, then y, mask, count', 'outputs y, mask, then mask, y', PARAMETERS),
  breaking('diff.output.cardinality-narrowed', 'An output gives fewer values', 'single is always named, optional may be left out, variadic is any number. Nodes that used what is gone are refused.',
    'single, then optional', 'variadic, then single', PARAMETERS),
  breaking('diff.type.narrowed', 'Fewer types are allowed', 'Nodes with a type that was removed are refused.',
    'tensor(float), then tensor(float) and tensor(double)', 'tensor(float) and tensor(double), then tensor(float)', TYPES),
  breaking('diff.type.joined', 'Inputs must now have one type', 'Inputs of one type parameter have one type in a node; before each had its own.',
    'x: T, y: T2 in both', 'x: T, y: T2, then x: T, y: T', TYPES),
  breaking('diff.type.output-rule', 'The type of an output follows from another input', 'An output has the type of the inputs that share its type parameter: with others it changes in nodes that were right before.',
    'x: T, y: T2, z: T in both', 'z: T, then z: T2', TYPES),
  breaking('diff.attribute.removed', 'An attribute was removed', 'Nodes that write it have an attribute that nobody knows.',
    'alpha in both', 'alpha, then none', ATTRIBUTES),
  breaking('diff.attribute.required-added', 'A new attribute that every node has to write', 'No node that was written before has it. Give it a default that does what was done before.',
    'a new alpha that may be left out', 'a new alpha with "required": true', ATTRIBUTES),
  breaking('diff.attribute.kind', 'An attribute has another kind', 'The value that nodes carry is of the old kind and is refused.',
    '"kind": "int" in both', '"kind": "int", then "float"', ATTRIBUTES),
  breaking('diff.attribute.made-required', 'An attribute can no longer be left out', 'Nodes that leave it out are refused.',
    'required, then not', '"required": false, then true', ATTRIBUTES),
  breaking('diff.attribute.default', 'Another default', 'Nodes that leave the attribute out compute something else from now on.',
    '"default": 1.702 in both', '"default": 1.702, then 1', ATTRIBUTES),
  breaking('diff.attribute.values-narrowed', 'Fewer values of an attribute are allowed', 'Nodes that write a value that was removed are refused.',
    '["a"], then ["a", "b"]', '["a", "b"], then ["a"]', ATTRIBUTES),

  compatible('diff.version.since-lowered', 'An earlier since version', 'Models that import an older operator set find the operator, too.', '"version": "2", then "1"', 'nothing', OPERATOR),
  compatible('diff.input.optional-added', 'A new input that may be left out', 'Nodes that were written before leave it out; the text should say what that means.', 'x, then x and an optional y', 'nothing', PARAMETERS),
  compatible('diff.input.cardinality-widened', 'An input takes more', 'Every node that was right stays right.', 'single, then optional', 'nothing', PARAMETERS),
  compatible('diff.input.renamed', 'An input has another name', 'Nodes list inputs by place; texts and kernels that use the name have to follow.', 'x, then data', 'nothing', PARAMETERS),
  compatible('diff.output.optional-added', 'A new output that may be left out', 'Nodes that were written before do not name it.', 'y, then y and an optional mask', 'nothing', PARAMETERS),
  compatible('diff.output.cardinality-widened', 'An output gives more', 'Every node that was right stays right.', 'single, then optional', 'nothing', PARAMETERS),
  compatible('diff.output.renamed', 'An output has another name', 'Nodes list outputs by place; texts and kernels that use the name have to follow.', 'y, then result', 'nothing', PARAMETERS),
  compatible('diff.type.widened', 'More types are allowed', 'Every node that was right stays right; kernels have to take the new types.', 'tensor(float), then tensor(double) too', 'nothing', TYPES),
  compatible('diff.type.separated', 'Inputs may now have different types', 'Every node that was right stays right.', 'x: T, y: T, then y: T2', 'nothing', TYPES),
  compatible('diff.attribute.optional-added', 'A new attribute that may be left out', 'Nodes that were written before leave it out; its default should do what was done before.', 'a new alpha with a default', 'nothing', ATTRIBUTES),
  compatible('diff.attribute.made-optional', 'An attribute can be left out', 'Every node that was right stays right.', '"required": true, then false', 'nothing', ATTRIBUTES),
  compatible('diff.attribute.values-widened', 'More values of an attribute are allowed', 'Every node that was right stays right; kernels have to take the new values.', '["a"], then ["a", "b"]', 'nothing', ATTRIBUTES),
  compatible('diff.authority.changed', 'Something else decides', 'When text and reference differ, the other of the two is right from now on.', '"specification" in both', 'nothing', 'Operator extension 1.0, authority'),
  compatible('diff.reference.changed', 'Another reference', 'Results are compared with another implementation or environment.', 'the same reference in both', 'nothing', 'Operator extension 1.0, reference'),
  compatible('diff.text.condition', 'A condition or shape rule changed', 'No program can tell what the change of a text means for nodes: read both.', 'the same entries in both', 'nothing', TEXTS),
  compatible('diff.text.behavior', 'A text about behaviour changed', 'No program can tell what the change of a text means for nodes: read both.', 'the same text in both', 'nothing', TEXTS),

  documentation('diff.version.changed', 'Another version of the document', 'The version names the document; only an integer is a since version.', '"1.0.0", then "1.1.0"', 'nothing', OPERATOR),
  documentation('diff.type.renamed', 'A type parameter has another name', 'Names of type parameters stand in no node.', 'T, then T1', 'nothing', TYPES),
  documentation('diff.tests.changed', 'Other evidence', 'Evidence checks implementations; the operator stays what it is.', 'a.json, then a.json and b.json', 'nothing', 'Operator extension 1.0, tests'),
  documentation('diff.text.description', 'A description changed', 'Descriptions explain; they change no node.', '"Scale.", then "Scale of the input."', 'nothing', TEXTS)
]

const all = [...rows, ...documentRows]
const grades = ['error', 'warning', 'info']

/** id -> { rule, severity, breaking, title, why, good, bad, source, order } */
export const diffRules = new Map(grades.flatMap(grade => all.filter(({ severity }) => severity === grade)).map((row, order) => [row.rule, { ...row, order }]))

/** { changes, breaking } of what env.diff says; changes of a rule stay in the order in which they were found. */
export function difference(changes) {
  const order = ({ rule }) => diffRules.get(rule).order
  return { changes: changes.sort((x, y) => order(x) - order(y)), breaking: changes.some(change => change.breaking) }
}

/** A change as env.diff answers it; `place` is { pointer } or { path }. */
export const change = (rule, message, place) => ({ rule, breaking: diffRules.get(rule).breaking, message, ...place })

const isText = /(^|\.)(doc_string|producer_name|producer_version|metadata_props(\[\d+\]\.(key|value))?|model_version|ir_version_prerelease|ir_build_metadata)$|^name$|^metadata_props\[\d+\]$/
const ruleOf = { added: 'diff.message.added', removed: 'diff.message.removed', changed: 'diff.message.changed', order: 'diff.message.order' }

/** The change that a row of the core's is where no rule of its document's kind has it. */
export function plainChange({ change: what, path, message }) {
  return change(isText.test(path) ? 'diff.message.text' : ruleOf[what], message, { path })
}

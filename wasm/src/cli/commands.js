import { check } from './check.js'
import { convert, targets } from './convert.js'
import { diff } from './diff.js'
import { editOptions } from './edits.js'
import { explain } from './explain.js'
import { kernelOption, newBundle } from './new.js'
import { ops } from './ops.js'
import { as, common, integer, kinds, oneOf, pair } from './options.js'
import { playground } from './playground.js'
import { run } from './run.js'
import { show } from './show.js'
import { backend, test } from './test.js'

/** The commands: usage, what each does, its options, its function. */
export const commands = {
  check: {
    usage: 'check PATH...',
    summary: 'validates specs, bundles, evidence, models (also as texts), operator sets and tensors; runs nothing',
    reports: true,
    options: {
      ...common, as,
      'strict': { help: 'warnings become errors' },
      'fix': { help: 'apply the safe fixes and write the files back' },
      'no-infer': { help: 'no type and shape inference' },
      'allow-empty': { help: 'a folder without matching files is no error' },
      'ignore-unknown': { help: 'skip files of unknown kind that were named' }
    },
    run: check
  },
  test: {
    usage: 'test PATH...',
    summary: 'runs the evidence of bundles and ONNX test folders; a kernel.js in a process of its own',
    reports: true,
    options: {
      ...common,
      'backend': { value: 'BACKEND', read: backend, help: 'what runs the operators: auto (the first there is of kernel.wasm, kernel.js, kernel.onnx, built-in), builtin, js, wasm, function, all (each in turn)' },
      'allow-empty': { help: 'nothing to run is no error' }
    },
    run: test
  },
  run: {
    usage: 'run MODEL',
    summary: 'runs a model',
    options: {
      ...common,
      'input': { value: 'NAME=VALUE', many: true, read: pair('input'), help: 'VALUE: @file.pb, @file.npy, JSON, random:2,3 or random' },
      'data': { value: 'FOLDER', help: 'take the inputs input_0.pb, ... of this folder' },
      'dim': { value: 'N=1', many: true, read: pair('dim'), help: 'size of a symbol in random shapes' },
      'seed': { value: 'N', read: integer('seed'), help: 'of random inputs and operators; 0 when not given' },
      'output': { value: 'NAME', many: true, help: 'which values; the outputs of the model when not given' },
      'output-dir': { value: 'FOLDER', help: 'write each output there as NAME.pb' }
    },
    run
  },
  show: {
    usage: 'show FILE',
    summary: 'decodes a document and summarises it',
    options: { ...common, as },
    run: show
  },
  convert: {
    usage: 'convert FILE [--to FORM]',
    summary: 'writes a document in another form, an edited model, or specifications as an operator set',
    options: {
      ...common, as,
      'to': { value: 'FORM', read: oneOf('to', targets), help: 'json; of specs canonical (RFC 8785), operator-set (of several); of models and data textproto, onnxtxt, protobuf (the default with edits); of data evidence, of tensors npy' },
      ...editOptions,
      'opset-version': { value: 'N', read: integer('opset-version', 1), help: 'version of the operator set that is written; the newest since version when not given' },
      'lossy': { help: 'also when the form cannot hold all of it' },
      'output': { value: 'FILE', short: '-o', help: 'where to; standard output when not given' }
    },
    run: convert
  },
  diff: {
    usage: 'diff A B',
    summary: 'what changes from one specification, operator set, model or data to the next, breaking changes first',
    reports: true,
    options: { ...common, as: { ...as, read: oneOf('as', kinds.filter(kind => !['bundle', 'evidence', 'json'].includes(kind))), help: 'take both as this kind: spec, operator-set, model, graph, function, tensor, sparse-tensor, sequence, map, optional' } },
    run: diff
  },
  ops: {
    usage: 'ops [NAME]',
    summary: 'lists the operators, or shows one in full; writes those of a domain as an operator set',
    options: {
      ...common,
      'domain': { value: 'DOMAIN', help: 'operators of this domain, as in ai.onnx.ml' },
      'opset-version': { value: 'N', read: integer('opset-version', 1), help: 'what this version of the domain has' },
      'output': { value: 'FILE', short: '-o', help: 'write them there as an OperatorSetProto; needs --domain' }
    },
    run: ops
  },
  explain: {
    usage: 'explain RULE | --all',
    summary: 'why a rule is there, with a good and a bad example; all of them as Markdown',
    options: { ...common, all: { help: 'every rule, as a page of Markdown; a list with --format json' } },
    run: explain
  },
  new: {
    usage: 'new NAME --domain D',
    summary: 'makes a bundle to start from: document, kernel, evidence',
    options: {
      ...common,
      'domain': { value: 'DOMAIN', help: 'whose operator it is, as in com.example' },
      'kernel': kernelOption
    },
    run: newBundle
  },
  playground: {
    usage: 'playground',
    summary: 'serves the page on this machine',
    options: { ...common, port: { value: 'PORT', read: integer('port', 0, 65535), help: 'port to listen on; any free one when not given' } },
    run: playground
  }
}

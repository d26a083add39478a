// The types of package 'opspec'. They need no library beyond the language: neither DOM nor Node.

declare global {
  interface SymbolConstructor { readonly dispose: unique symbol }
}

/** A compiled WebAssembly.Module. */
export type WasmModule = object
export type Bytes = ArrayBuffer | ArrayBufferView
/** A Blob or File of any environment. */
export interface BlobLike { readonly size: number; arrayBuffer(): Promise<ArrayBuffer> }
/** One that can be read in parts. */
export interface SlicedBlobLike extends BlobLike { slice(start?: number, end?: number): BlobLike }
/** The environment's Blob where its types are known. */
export type PlatformBlob = typeof globalThis extends { Blob: { prototype: infer B } } ? B : SlicedBlobLike
export interface UrlLike { readonly href: string }
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason?: any
  addEventListener(type: 'abort', listener: () => void, options?: any): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** A file's content: text, bytes or (where the call is asynchronous) a Blob. */
export type Source = Bytes | string | BlobLike
export type Files = ReadonlyMap<string, Source> | Readonly<Record<string, Source>> | ((name: string) => Source | null | undefined)

// ---- Reports --------------------------------------------------------------------------------------------------

export type Kind = 'spec' | 'bundle' | 'evidence' | 'model' | 'graph' | 'function' | 'operator-set' | 'tensor' | 'sparse-tensor' | 'sequence' | 'map' | 'optional' | 'json' | 'unknown'
export type MessageName = 'ModelProto' | 'GraphProto' | 'FunctionProto' | 'TensorProto' | 'SparseTensorProto' | 'SequenceProto' | 'MapProto' | 'OptionalProto' | 'OperatorSetProto'

export type TextForm = 'json' | 'textproto' | 'onnxtxt' | 'canonical' | 'summary' | 'evidence'

/** line and column count from 1, columns in code points; byte in UTF-8; utf16 for editors. A byte-order mark counts as a character. */
export interface Position { line: number; column: number; byte: number; utf16: number }
export type Severity = 'error' | 'warning' | 'info'

export interface Edit { file?: string; byteStart: number; byteEnd: number; text?: string; bytes?: Uint8Array }
/** safe: the document means the same afterwards, or what its author plainly meant. */
export interface Fix { title: string; safe: boolean; edits: readonly Edit[] }

export interface Finding {
  rule: string
  severity: Severity
  message: string
  file?: string
  /** In a protobuf: graph.node[3].input[0]. */
  path?: string
  /** In JSON: RFC 6901. */
  pointer?: string
  range?: { start: Position; end: Position }
  bytes?: [number, number]
  node?: { index: number; name: string; opType: string; domain: string }
  expected?: string
  actual?: string
  related: readonly { message: string; file?: string; path?: string; pointer?: string; range?: { start: Position; end: Position } }[]
  fix?: Fix
  fingerprint: string
  suppressed?: { reason: string; by: 'config' | 'baseline' }
}

export interface Report {
  /** Complete and without an error. */
  ok: boolean
  /** False when something was cut or could not be looked at; `incomplete` says what. */
  complete: boolean
  incomplete: readonly string[]
  kind: Kind
  counts: Record<Severity, number>
  findings: readonly Finding[]
  /** Version of the rule set. */
  rules: string
  coverage?: Readonly<Record<string, number>>
}

// ---- Values ---------------------------------------------------------------------------------------------------

export type TypedData =
  | Float32Array | Float64Array | Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array
  | readonly string[]
  | (ArrayBufferView & { readonly [i: number]: number; readonly length: number })

/** Any object with these members is taken as a tensor, onnxruntime-common's among them. */
export interface TensorLike { readonly type: string; readonly dims: readonly number[]; readonly data: TypedData }

export class Tensor implements TensorLike {
  /** Lists hold values; typed arrays of float16, bfloat16 and narrower floats hold bits. dims: one dimension when left out. */
  constructor(type: string, data: TypedData | readonly (number | bigint | boolean | string)[], dims?: readonly number[])
  readonly type: string
  readonly dims: readonly number[]
  readonly data: TypedData
  readonly size: number
  /** Nested lists of plain values. */
  toArray(): unknown
  dispose(): void
  [Symbol.dispose](): void
}

export class SparseTensor {
  constructor(type: string, values: TensorLike, indices: TensorLike, dims: readonly number[])
  readonly type: string
  readonly dims: readonly number[]
  readonly values: TensorLike
  readonly indices: TensorLike
}

/** A sequence is a list, an empty optional null. */
export type Value = TensorLike | SparseTensor | readonly Value[] | ReadonlyMap<string | number | bigint, Value | string | number | bigint | boolean> | null

/** null: unknown rank. A dim is a number, a symbol's name, or null. */
export type Shape = readonly (number | bigint | string | null)[] | null
export interface ValueInfo { readonly name: string; readonly type: string; readonly shape: Shape }

// ---- Handles --------------------------------------------------------------------------------------------------

export interface CheckOptions {
  as?: Kind | MessageName
  files?: Files
  /** Warnings become errors. */
  strict?: boolean
  /** Inference included; true when left out. */
  full?: boolean
  signal?: AbortSignalLike
  timeoutMs?: number
  /** Of a model: told now and then, and at the end, how much of it is checked, from 0 to 1. What it throws ends the check. */
  onProgress?: (part: number) => void
}

/**
 * One change of a model. A node is named by its name, or by its number in the main graph as it was before the first edit of the
 * list; a value of the main graph by its name.
 */
export type ModelEdit =
  /** Wherever the name stands: in all graphs that see the value, in what is said of it, in bindings of training graphs. */
  | { renameInput: string; to: string }
  | { renameOutput: string; to: string }
  | { renameValue: string; to: string }
  | { renameNode: string | number; to: string }
  /**
   * An output that is still used needs something in its place: a value for it in `replace`, or, with `bypass`, the node's first
   * input for its first output. An output of the graph keeps its name: then what takes its place gets that name.
   */
  | { removeNode: string | number; bypass?: boolean; replace?: Readonly<Record<string, string>> }
  /** Runs the node and those before it, which must need no input of the graph; initializers take the place of its outputs. */
  | { fold: string | number }
  /** null takes it away. */
  | { setMetadata: string; value: string | null }
  /** Only the number: nodes stay as they are. */
  | { setOpset: string; version: number | bigint | null }
  /** A field of ModelProto. */
  | { set: 'irVersion' | 'modelVersion' | 'producerName' | 'producerVersion' | 'domain' | 'docString'; value: string | number | bigint | null }

/** A node of the main graph, as it was when the model was asked. */
export interface NodeInfo {
  readonly index: number
  readonly name: string
  readonly opType: string
  readonly domain: string
  readonly overload: string
  /** An empty name: left out. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /**
   * Integers are numbers, those that no number holds bigints; bytes that are no text Uint8Arrays; a reference to an attribute of
   * the function { ref }; what is large { kind: 'tensor' }, with 'graph', 'sparse_tensor', 'type_proto' and their plurals.
   */
  readonly attributes: Readonly<Record<string, any>>
}

/** Nodes are made as they are asked for: to read all of them takes no more memory than one. */
export interface NodeList extends Iterable<NodeInfo> {
  readonly length: number
  at(index: number): NodeInfo | undefined
  toJSON(): NodeInfo[]
}

export interface Model {
  readonly kind: 'model'
  readonly inputs: readonly ValueInfo[]
  readonly outputs: readonly ValueInfo[]
  check(options?: CheckOptions): Report
  /** The bytes that it was made of. Of a model that was opened: if it is a file in Node, and `limit` where one array cannot hold them. */
  toBytes(): Uint8Array
  /** The same as a Blob: what an opened model left outside is a slice of what it was opened from, and not read. */
  toBlob(): PlatformBlob
  /**
   * Brings all data of an opened model's tensors into memory: of a Blob, the synchronous methods that read it (toJSON, toText)
   * need that. `limit`, with the size, when it is more than there can be. Does nothing to other models.
   */
  load(options?: { signal?: AbortSignalLike; timeoutMs?: number }): Promise<void>
  /** Nodes of the main graph. In the worker client a plain list. */
  nodes(): NodeList
  /**
   * Changes the model: all edits, one after the other, or none. What they do not touch keeps its bytes, and a message that they
   * touch, with those around it, is written anew, by field number and with all that is unknown in it. Sessions that were made before go on
   * with the model as it was. `invalid_argument` or `unsupported` says which edit cannot be made, with the place in the model as
   * `path`.
   */
  edit(edits: readonly ModelEdit[]): void
  /** The message as env.decode gives it, but what is over 1 kB of a tensor's data as its place in the model's bytes: { offset, length }. */
  structure(): Record<string, unknown>
  /**
   * What is known of the values of the main graph: declared, of an initializer or inferred. Complete when nothing was in the way. With `graphs`
   * also of graphs inside and of functions, by their path ('graph.node[2].attribute[0].g', 'functions[0]'): what is the same wherever they are run.
   */
  infer(options?: { timeoutMs?: number; graphs?: boolean }): { values: Map<string, { type: string; shape: Shape }>; graphs?: Map<string, Map<string, { type: string; shape: Shape }>>; complete: boolean }
  /** Protobuf's JSON mapping, as JSON.stringify asks for it; what it cannot hold is missing. */
  toJSON(): unknown
  toText(form?: 'textproto' | 'onnxtxt', options?: { lossy?: boolean }): string
  dispose(): void
  [Symbol.dispose](): void
}

export interface RunOptions {
  signal?: AbortSignalLike
  timeoutMs?: number
  /** Names of any values of the graph; the model's outputs when left out. */
  outputs?: readonly string[]
}

export interface Session {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run<O extends Record<string, Value> = Record<string, Tensor>>(feeds: Readonly<Record<string, Value>>, options?: RunOptions): Promise<O>
  dispose(): void
  [Symbol.dispose](): void
}

export interface Registration {
  readonly operators: readonly string[]
  /** Of a plug-in: documents without an operator, operators without a document. */
  readonly unmatched: { readonly documents: readonly string[]; readonly operators: readonly string[] }
  /** Takes the operator back. Sessions that were made before keep it. */
  dispose(): void
  [Symbol.dispose](): void
}

// ---- Kernels --------------------------------------------------------------------------------------------------

/** Defaults applied. An int is a number, one that no number holds fails unless the kernel has bigint: true. */
export type Attributes = Readonly<Record<string, any>>

/** Lent for one call: `requested` and `fail` refuse once it has ended. */
export interface KernelContext {
  opType: string
  domain: string
  sinceVersion: number
  /** Which outputs the node has. */
  requested: readonly boolean[]
  signal?: AbortSignalLike
  /** Ends the run: operator_failed with this message. */
  fail(message: string): never
}

export interface Kernel {
  /** Every int attribute comes as a bigint. */
  bigint?: boolean
  /** Once for each node. Like inferTypes and inferShapes it must answer at once: only compute may answer a promise. */
  create?(attributes: Attributes, context: KernelContext): void
  /** Types of the outputs, of those that the document allows; without it those that the type parameters give. */
  inferTypes?(inputs: readonly (string | undefined)[], attributes: Attributes, context: KernelContext): readonly string[]
  /** Shapes of the outputs; `value` of an input that is constant. */
  inferShapes?(inputs: readonly ({ type: string; shape: Shape; value?: TensorLike } | undefined)[], attributes: Attributes, context: KernelContext): readonly { type?: string; shape: Shape }[]
  /**
   * Data of the inputs may be views of the module's memory, which hold during the call only and are not to be written to; an async
   * function gets copies. Outputs have the types that the document allows; an empty list, Map or optional has that of the inputs of
   * the same type parameter, or what inferTypes says.
   */
  compute(inputs: readonly (Value | undefined)[], attributes: Attributes, context: KernelContext): readonly (Value | undefined)[] | Promise<readonly (Value | undefined)[]>
  /** When the registration is disposed and no session uses the kernel any more. What it throws comes out of the dispose() that led to it. */
  dispose?(): void
}

/**
 * An operator by what happens to one element: a value for each input (undefined where it is left out), then the attributes; answers
 * the value of the output, or a list of them where the operator has several. Inputs broadcast as ONNX's do. Values are numbers,
 * bigints (int64, uint64), booleans or strings, no promises; what the output's type cannot hold ends the run, narrow floats are rounded. Types
 * come from the document: an output has that of an input of the same type parameter, or the only one that is allowed.
 */
export interface ElementwiseKernel {
  elementwise(...valuesAndAttributes: any[]): unknown
  bigint?: boolean
  create?(attributes: Attributes, context: KernelContext): void
  dispose?(): void
}

// ---- The Env --------------------------------------------------------------------------------------------------

export interface Parameter {
  readonly name: string
  readonly option: 'single' | 'optional' | 'variadic'
  readonly homogeneous?: boolean
  readonly minArity?: number
  readonly typeParameter?: string
  readonly types?: readonly string[]
}

export interface Operator {
  readonly domain: string
  readonly name: string
  readonly overload?: string
  readonly sinceVersion: number
  readonly deprecated?: boolean
  /** The standard, or who registered it, gives a body of other operators. */
  readonly function?: boolean
  readonly inputs: readonly Parameter[]
  readonly outputs: readonly Parameter[]
  readonly attributes: Readonly<Record<string, { readonly kind: string; readonly required: boolean; readonly default?: unknown }>>
  /**
   * 'onnx' of the standard. Of what was registered, what runs it: 'js', 'plug-in', 'function', 'builtin' (linked into the build),
   * 'spec' when it is only declared.
   */
  readonly source: 'onnx' | 'js' | 'plug-in' | 'function' | 'builtin' | 'spec'
  /** There is something to run it with. */
  readonly kernel: boolean
}

export interface Explanation { rule: string; severity: Severity; title: string; why: string; good: string; bad: string; source: string }

/**
 * What runs an operator in its evidence: kernel.wasm, kernel.js (or .mjs), kernel.onnx of the bundle, or what is built in.
 * auto: the first there is, in this order. all: each, with results of its own.
 */
export type Backend = 'auto' | 'builtin' | 'js' | 'wasm' | 'function' | 'all'

export interface Test {
  path: string
  name: string
  backend: Exclude<Backend, 'auto' | 'all'>
  status: 'passed' | 'failed' | 'skipped' | 'error'
  message?: string
  findings?: readonly Finding[]
  /** What a kernel that is shut in reached for and did not get: `process`, `fetch`, `import("node:fs")`. */
  refused?: readonly string[]
  ms: number
}

export interface TestReport {
  /** Something passed, nothing failed. */
  ok: boolean
  tests: readonly Test[]
  summary: { passed: number; failed: number; skipped: number; errors: number }
}

/** `pointer` in specifications, `path` in ONNX documents. Of elements of values also which is the first of how many and how far they are apart. */
export interface Change {
  rule: string
  breaking: boolean
  message: string
  path?: string
  pointer?: string
  first?: number
  differing?: number
  count?: number
  maxAbs?: number
  maxRel?: number
  maxUlp?: number
}
export interface Difference { changes: readonly Change[]; breaking: boolean }

/** Forms of the standard's output. */
export type OutputForm = 'flag' | 'basic' | 'detailed' | 'verbose'
export interface SchemaOptions {
  /** By default `format` is an annotation, unless the schema's meta-schema says otherwise. */
  format?: 'annotation' | 'assertion'
  schemas?: Files
}
export type SchemaReport = Report & { valid: boolean; output?: unknown }

/** A schema that was compiled once; validates any number of documents. */
export interface Schema {
  /** Warnings about the schema itself; validateJson has them in its report. */
  readonly findings: readonly Finding[]
  validate(instance: string | Bytes, options?: { output?: OutputForm }): SchemaReport
  dispose(): void
  [Symbol.dispose](): void
}

export interface OperatorSetOptions {
  /** 'ai.onnx' is the standard's own. May be left out with `specs`, which are of one domain. */
  domain?: string
  /** The set has of each operator the newest up to this version; by default the newest there is. */
  version?: number
  /** Documents to take the operators from; nothing is registered. */
  specs?: readonly (string | Bytes | object)[]
  /** Bodies for `specs` by op_type: a FunctionProto, or a ModelProto whose main graph becomes one. */
  functions?: Readonly<Record<string, Bytes>>
  /** false: operators that are registered with a body stand there as operators, too. */
  bodies?: boolean
  status?: 'stable' | 'experimental'
  irVersion?: number
  docString?: string
}

export interface Env {
  validateSpec(spec: string | Bytes, options?: CheckOptions): Report
  /** Any document. Never throws for its content. */
  check(document: string | Bytes, options?: CheckOptions): Report
  /**
   * What a document is, by its content, and why: 'zip' of an archive, 'text' of a text that is no JSON. `candidates`: other
   * messages that the same bytes may be.
   */
  identify(document: string | Bytes): { kind: Kind | 'zip' | 'text'; evidence: string; candidates: string }
  /** JSON Schema 2020-12. Throws OpspecError with findings when the schema is wrong. `schemas`: those that it refers to, by URI. */
  compileSchema(schema: string | Bytes, options?: SchemaOptions): Schema
  /** The same and one validation. Never throws for content: what is wrong with the schema are findings in the file `schema`. */
  validateJson(instance: string | Bytes, schema: string | Bytes, options?: SchemaOptions & { output?: OutputForm }): SchemaReport
  /** In memory, at once. Throws OpspecError with findings when the bytes are no model. */
  /**
   * With `borrow` the bytes are not copied: what is large in them is read when it is needed, so they must not be changed or
   * given away as long as the model, or a session of it, is used. For models that are weights most of all.
   */
  loadModel(bytes: Bytes, options?: { files?: Files; borrow?: boolean }): Model
  /**
   * A model whose structure is read and whose large parts stay where they are: a Blob, a URL, or in Node a path. External data is
   * looked for in `files` alone, which may hold Blobs. `onProgress` is told the bytes that were gone through, and those of the source, now and
   * then and at the end.
   */
  open(source: SlicedBlobLike | UrlLike | string, options?: { as?: 'model' | 'ModelProto'; files?: Files; onProgress?: (bytes: number, size: number) => void; signal?: AbortSignalLike; timeoutMs?: number }): Promise<Model>
  createSession(model: Model | Bytes | BlobLike, options?: { files?: Files; signal?: AbortSignalLike; timeoutMs?: number }): Promise<Session>
  /**
   * Without a kernel the operator is only declared, for checks. With a plug-in, `spec` may be a list of documents, each of
   * which must have its operator in the plug-in. Other bytes are a FunctionProto, of the operator's domain and name, or a
   * ModelProto, whose main graph then is what the operator runs: inputs and outputs by position, attributes by reference.
   */
  registerOperator(spec: string | Bytes | object, kernel?: Kernel | ElementwiseKernel | Bytes | WasmModule, options?: { sinceVersion?: number }): Registration
  /**
   * All operators of a plug-in. Its operators are matched to documents by domain, name and since version; one without a
   * document is known by what the plug-in says of it, or as a kernel of a standard operator; else it is in `unmatched`.
   */
  loadPlugin(plugin: string | UrlLike | Bytes | WasmModule, options?: { documents?: readonly (string | Bytes | object)[] }): Promise<Registration>
  /** Any message as an object. Short bytes of a list (`stringData`, `strings`) may be views of one buffer; all others have their own. */
  decode(bytes: Bytes, as: string): Record<string, unknown>
  /**
   * What changes when `b` takes the place of `a`: of specifications and operator sets for nodes, of models for who runs them, of data whether the
   * values are the same; breaking changes first; explain() knows their rules. Places are those of `b`, of what was removed those of `a`. `as`
   * says what both are where their content does not ('unsupported' when they are of two kinds). `files`: where elements of tensors lie,
   * of both or of each; they are read piece by piece, and a change (`diff.message.unread`) says so where they are not at hand.
   */
  diff(a: string | Bytes, b: string | Bytes, options?: { as?: Kind | MessageName; files?: Files | readonly [Files | null, Files | null]; timeoutMs?: number }): Difference
  /** An object as decode gives it; names of the .proto files, names of enums and strings for 64-bit integers are taken too. */
  encode(object: object, as: string): Uint8Array
  /**
   * A document as text. JSON documents ('spec', 'evidence', 'json'): canonical (RFC 8785), json (two blanks of indentation), summary (with the
   * SHA-256 of the canonical form). Messages: json (protobuf's JSON mapping), textproto (protobuf's text format), and models, graphs and functions
   * onnxtxt (ONNX's textual syntax). Data: evidence, the value as evidence documents have it, `files` as readValue has them. What a form cannot hold is an OpspecError 'unsupported' with findings, unless `lossy`.
   */
  format(bytes: string | Bytes, as: string, form: TextForm, options?: { lossy?: boolean; files?: Files }): string
  /** A message from its text; OpspecError 'malformed' with findings that have lines and columns. */
  parse(text: string | Bytes, as: string, form: TextForm): Uint8Array
  /** `files`: those that elements of its tensors may lie in. */
  readValue(bytes: Bytes, kind: 'tensor' | 'sparse-tensor' | 'sequence' | 'map' | 'optional', options?: { files?: Files }): Value
  writeValue(value: Value, name: string, type?: string): Uint8Array
  /** An OperatorSetProto of the operators that this Env knows of a domain, or of `specs`. */
  writeOperatorSet(options: OperatorSetOptions): Uint8Array
  operators(): readonly Operator[]
  /** Ids of all rules; explain() says what each is about. */
  rules(): string[]
  explain(rule: string): Explanation
  test(bundle: Files | Bytes | BlobLike, options?: { backend?: Backend; signal?: AbortSignalLike; timeoutMs?: number }): Promise<TestReport>
  dispose(): void
  [Symbol.dispose](): void
}

export type ErrorCode = 'invalid_argument' | 'malformed' | 'limit' | 'unsupported' | 'operator_failed' | 'aborted' | 'timeout' | 'crashed'

export class OpspecError extends Error {
  constructor(code: ErrorCode, message: string, more?: { path?: string; findings?: readonly Finding[]; cause?: unknown })
  readonly code: ErrorCode
  readonly path?: string
  readonly findings?: readonly Finding[]
  readonly cause?: unknown
}

/** What carries a bundle's code into a place that can be killed; the contract stands in isolated.js. */
export type Isolate = (job: IsolatedJob, limits: { signal?: AbortSignalLike; timeoutMs?: number }) => Promise<readonly Test[]>
export interface IsolatedJob {
  version: 1
  files: readonly (readonly [string, Uint8Array])[]
  limits?: Limits
  wasm?: string | Bytes | WasmModule
  backend?: Backend
  skip?: number
}

export interface Limits { bytes?: number; memory?: number; findings?: number; depth?: number }

export interface EnvOptions {
  /** Where the module is, or what it is; the file beside this one when left out. */
  wasm?: string | UrlLike | Bytes | WasmModule
  /** How float16 data come out: bits in a Uint16Array, or a Float16Array where the engine has it. Both are taken. */
  float16?: 'bits' | 'array'
  limits?: Limits
  /** Of random operators: the same numbers in every Env. */
  seed?: number
  isolate?: Isolate
}

export function createEnv(options?: EnvOptions): Promise<Env>

// ---- In a worker ----------------------------------------------------------------------------------------------

export type Handle = Model | Schema | Session | Registration
/** In a worker the methods of handles are promises too. */
export type Remote<R> = R extends Handle ? Async<R> : R extends NodeList ? NodeInfo[] : R
export type Async<T> = { readonly [K in keyof T]: K extends 'run' | typeof Symbol.dispose ? T[K] : T[K] extends (...a: infer A) => infer R ? (...a: { [I in keyof A]: Model extends A[I] ? A[I] | Async<Model> : A[I] }) => Promise<Remote<Awaited<R>>> : T[K] }

export interface WorkerEnv extends Async<Env> {
  /** A kernel object cannot cross: give the text or the URL of an ES module whose default export is the kernel. */
  registerOperator: Async<Env>['registerOperator'] & ((spec: string | Bytes | object, kernel?: string | UrlLike | Bytes | WasmModule, options?: { sinceVersion?: number; signal?: AbortSignalLike; timeoutMs?: number }) => Promise<Async<Registration>>)
  loadPlugin: Async<Env>['loadPlugin'] & ((plugin: string | UrlLike | Bytes | WasmModule, options?: { documents?: readonly (string | Bytes | object)[]; signal?: AbortSignalLike; timeoutMs?: number }) => Promise<Async<Registration>>)
  /** How often the engine was started again, and the bytes it takes. */
  status(): Promise<{ restarts: number; used: number; memory: number }>
}

export interface WorkerEnvOptions extends Omit<EnvOptions, 'isolate'> {
  /** A worker that runs opspec/worker, where a bundler cannot be left to find it. It cannot be started again after a crash. */
  worker?: { postMessage(message: any, transfer?: any): void }
  /** After the engine was ended (an abort or time-out that it did not follow, a crash) and started again. */
  onRestart?(reason: 'aborted' | 'timeout' | 'crashed'): void
}

export function createWorkerEnv(options?: WorkerEnvOptions): Promise<WorkerEnv>

// ---- Fixes ----------------------------------------------------------------------------------------------------

/** Applies the fixes of the findings; of overlapping ones the first. left: how many were not applied. */
export function applyFixes<T extends string | Uint8Array>(content: T, findings: readonly Finding[]): { content: T; applied: number; left: number }

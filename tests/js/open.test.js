// Models that are opened rather than loaded: what they answer, and that what is large in them stays on disk.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdtempSync, openAsBlob, openSync, readdirSync, readFileSync, readSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as entry from '../../wasm/js/index.js'
import { writeHole, writeLargeModel } from '../support/large.js'
import * as onnx from '../support/onnx.js'
import { cases, fromBlob } from '../support/open-cases.js'
import { message } from '../support/proto.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))

describe('env.open', () => {
  let folder
  before(() => { folder = mkdtempSync(join(tmpdir(), 'opspec-open-')) })
  after(() => rmSync(folder, { recursive: true }))

  let count = 0
  const written = bytes => {
    const path = join(folder, `${++count}.onnx`)
    writeFileSync(path, bytes)
    return path
  }
  const ways = {
    'a Blob': fromBlob,
    'a file as a Blob': async (env, bytes, options) => env.open(await openAsBlob(written(bytes)), options),
    'a path': (env, bytes, options) => env.open(written(bytes), options),
    'a URL': (env, bytes, options) => env.open(pathToFileURL(written(bytes)), options)
  }
  const envs = { 'an Env': entry.createEnv, 'a worker': entry.createWorkerEnv }
  for (const [name, run] of Object.entries(cases)) {
    for (const [way, open] of Object.entries(ways)) {
      for (const [kind, create] of Object.entries(envs)) {
        // Node cannot clone it; a worker takes the path.
        if (way === 'a file as a Blob' && kind === 'a worker') continue
        it(`${name}: ${way} in ${kind}`, async () => {
          const env = await create()
          try {
            await run(env, entry, open, create)
          } finally {
            await env.dispose()
          }
        })
      }
    }
  }

  it('says how far it is', async () => {
    const env = await entry.createEnv()
    const path = join(folder, 'far.onnx')
    const size = writeLargeModel(path, { inside: 300, elements: 10_000 })
    for (const source of [path, await openAsBlob(path)]) {
      const told = []
      const opened = await env.open(source, { onProgress: (...now) => told.push(now) })
      assert.deepEqual(told.at(-1), [size, size])
      assert.ok(told.every(([bytes, of], i) => of === size && bytes <= size && (i === 0 || bytes >= told[i - 1][0])), JSON.stringify(told))
      if (typeof source !== 'string') assert.ok(told.length > 10, `${told.length}`)
      opened.dispose()
    }
    await assert.rejects(env.open(path, { onProgress: 5 }), { code: 'invalid_argument', message: /^onProgress: / })
    await assert.rejects(env.open(await openAsBlob(path), { onProgress: () => { throw new Error('mine') } }), /mine/)
    env.dispose()
  })

  it('says how far a check is, in a worker too', async () => {
    const count = 3000
    const bytes = onnx.model({
      inputs: [onnx.value('v0', 'float32', ['N'])], outputs: [onnx.value(`v${count}`, 'float32', ['N'])],
      nodes: Array.from({ length: count }, (_, i) => onnx.node('Abs', [`v${i}`], [`v${i + 1}`]))
    })
    for (const create of [entry.createEnv, entry.createWorkerEnv]) {
      const env = await create()
      const model = await env.loadModel(bytes)
      const plain = await model.check()
      for (const check of [options => env.check(bytes, options), options => model.check(options)]) {
        const told = []
        assert.deepEqual(await check({ onProgress: (...now) => told.push(now) }), plain)
        assert.ok(told.length > 1 && told.every(([part, ...more], i) => more.length === 0 && part > 0 && part <= 1 && (i === 0 || part >= told[i - 1][0])), JSON.stringify(told))
        assert.deepEqual(told.at(-1), [1])
        await assert.rejects(async () => check({ onProgress: () => { throw new Error('mine') } }), /mine/)
        await assert.rejects(async () => check({ onProgress: 5 }), { code: 'invalid_argument', message: /^onProgress: / })
        assert.deepEqual(await check(), plain)
      }
      const read = []
      const opened = await env.open(new Blob([bytes]), { onProgress: (...now) => read.push(now) })
      assert.deepEqual(read.at(-1), [bytes.length, bytes.length])
      assert.deepEqual(await opened.check(), plain)
      await env.dispose()
    }
  })

  it('infers what is in graphs inside and in functions, as far as all calls agree', async () => {
    const env = await entry.createEnv()
    const branch = name => onnx.graph({ name, nodes: [onnx.node('Neg', ['hidden'], [`${name}_h`])], outputs: [onnx.value(`${name}_h`, 'float32', ['N', 4])] })
    const fn = onnx.functionProto({ name: 'F', domain: 'org.test', inputs: ['a'], outputs: ['r'], nodes: [onnx.node('Abs', ['a'], ['k']), onnx.node('Size', ['k'], ['n']), onnx.node('Cast', ['k'], ['r'], { to: 1n })] })
    const bytes = other => onnx.model({
      opsets: { '': 21, 'org.test': 1 }, functions: [fn],
      nodes: [onnx.node('MatMul', ['x', 'w'], ['hidden']), onnx.node('If', ['flag'], ['i'], { then_branch: { graph: branch('yes') }, else_branch: { graph: branch('no') } }), onnx.node('F', ['i'], ['f'], {}, { domain: 'org.test' }), onnx.node('F', [other], ['g'], {}, { domain: 'org.test' })],
      inputs: [onnx.value('x', 'float32', ['N', 3]), onnx.value('w', 'float32', [3, 4]), onnx.value('z', 'float64', [2]), onnx.value('flag', 'bool', [])], outputs: [onnx.value('f', 'float32', ['N', 4]), onnx.value('g', 'float32', other === 'z' ? [2] : ['N', 3])]
    })
    const told = map => Object.fromEntries([...map].map(([name, { type, shape }]) => [name, `${type} ${JSON.stringify(shape)}`]))
    const loaded = env.loadModel(bytes('x'))
    assert.equal(loaded.infer().graphs, undefined)
    const { graphs, values, complete } = loaded.infer({ graphs: true })
    assert.deepEqual([complete, [...graphs.keys()].sort()], [true, ['functions[0]', 'graph.node[1].attribute[0].g', 'graph.node[1].attribute[1].g']])
    assert.deepEqual(told(graphs.get('graph.node[1].attribute[1].g')), { no_h: 'tensor(float) ["N",4]' })
    assert.deepEqual(told(graphs.get('functions[0]')), { a: 'tensor(float) ["N",null]', k: 'tensor(float) ["N",null]', n: 'tensor(int64) []', r: 'tensor(float) ["N",null]' })
    assert.equal(told(values).hidden, 'tensor(float) ["N",4]')
    const differs = env.loadModel(bytes('z'))
    assert.deepEqual(told(differs.infer({ graphs: true }).graphs.get('functions[0]')), { n: 'tensor(int64) []', r: 'tensor(float) null' })
    assert.throws(() => loaded.infer({ graphs: 1 }), { code: 'invalid_argument', message: /^graphs: / })
    env.dispose()
  })

  it('a Blob is read through toBlob() and load() alone in synchronous calls', async () => {
    const env = await entry.createEnv()
    const bytes = onnx.model({ initializers: [onnx.tensor('w', 'float32', [100000], new Float32Array(100000))], outputs: [onnx.value('w', 'float32', [100000])] })
    const opened = await env.open(new Blob([bytes]))
    assert.throws(() => opened.toBytes(), { code: 'unsupported', message: /toBlob/ })
    assert.throws(() => opened.toJSON(), { code: 'unsupported', message: /load\(\)/ })
    env.dispose()
  })

  it('long strings of attributes reach kernels and texts; long unknown fields do once load() has brought them in', async () => {
    const env = await entry.createEnv()
    const text = letter => letter.repeat(3000)
    const string = (name, shape) => ({ name, type: { tensor_type: { elem_type: 8, shape: { dim: shape.map(dim_value => ({ dim_value })) } } } })
    const bytes = message('ModelProto', {
      ir_version: 10, opset_import: [{ version: 21 }], '#9001': text('m'),
      graph: {
        name: 'g', '#9002': text('g'), output: [string('y', []), string('z', [2])],
        initializer: [{ name: 'far', dims: [3 << 19], data_type: 2, raw_data: new Uint8Array(3 << 19) }, { name: 't', dims: [1], data_type: 1, float_data: [1], '#9003': text('t') }],
        node: [
          { op_type: 'Constant', output: ['y'], '#9004': text('n'), attribute: [{ name: 'value_string', type: 3, s: text('s') }] },
          { op_type: 'Constant', output: ['z'], attribute: [{ name: 'value_strings', type: 8, strings: [text('a'), text('b')], '#9005': text('x') }] }
        ]
      }
    })
    const plain = env.loadModel(bytes)
    for (const way of ['a Blob', 'a path']) {
      const opened = await ways[way](env, bytes)
      assert.deepEqual(opened.nodes().toJSON(), plain.nodes().toJSON(), way)
      if (way === 'a Blob') assert.throws(() => opened.toText('textproto'), { code: 'unsupported', message: /load\(\) brings it in/ })
      await opened.load()
      for (const form of ['textproto', 'onnxtxt']) assert.equal(opened.toText(form, { lossy: true }), plain.toText(form, { lossy: true }), `${way} ${form}`)
      opened.edit([{ setMetadata: 'author', value: 'tests' }])
      const blob = new Uint8Array(await opened.toBlob().arrayBuffer())
      for (const letter of 'mgtnxsab') assert.ok(Buffer.from(blob).includes(text(letter)), `${way} ${letter}`)
      const session = await env.createSession(opened)
      const { y, z } = await session.run({})
      assert.deepEqual([y.data, z.data], [[text('s')], [text('a'), text('b')]], way)
      opened.dispose()
    }
    env.dispose()
  })

  it('the bytes of a file, in one array', async () => {
    const env = await entry.createEnv()
    const bytes = onnx.model({ initializers: [onnx.tensor('w', 'float32', [1000], new Float32Array(1000))], outputs: [onnx.value('w', 'float32', [1000])] })
    const opened = await env.open(written(bytes))
    assert.deepEqual([...opened.toBytes()], [...bytes])
    env.dispose()
  })

  it('a file that becomes shorter meanwhile', async () => {
    const env = await entry.createEnv()
    const bytes = onnx.model({ initializers: [onnx.tensor('w', 'float32', [100000], new Float32Array(100000))], outputs: [onnx.value('w', 'float32', [100000])] })
    const path = written(bytes)
    const opened = await env.open(path)
    writeFileSync(path, bytes.subarray(0, 5000))
    const session = await env.createSession(opened)
    await assert.rejects(session.run({}), { code: 'unsupported', message: /can no longer be read/ })
    assert.throws(() => opened.toBytes(), /shorter/)
    env.dispose()
  })
})

function readHead (path) {
  const file = openSync(path, 'r')
  const head = new Uint8Array(16)
  readSync(file, head, 0, 16, 0)
  closeSync(file)
  return head
}

describe('3 GB of tensors and 3 GB beside them', () => {
  const MB = 2 ** 20
  let folder, size
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-large-'))
    size = writeLargeModel(join(folder, 'large.onnx'), { inside: 24, beside: 24, elements: 32 * MB })
    writeHole(join(folder, 'weights.bin'), 3072 * MB)
    writeLargeModel(join(folder, 'constants.onnx'), { inside: 24, elements: 32 * MB, as: 'constant' })
    writeLargeModel(join(folder, 'far.onnx'), { beside: 24, elements: 32 * MB })
    writeLargeModel(join(folder, 'some.onnx'), { beside: 8, elements: 6 * MB })
    writeLargeModel(join(folder, 'escape.onnx'), { inside: 0, beside: 1, elements: 32 * MB, location: '../weights.bin' })
  })
  after(() => rmSync(folder, { recursive: true }))

  // Runs in a process of its own; answers what it printed and the most memory that it took.
  function measured (script) {
    const text = `
      import { createEnv } from ${JSON.stringify(new URL('../../wasm/js/index.js', import.meta.url).href)}
      import { openAsBlob } from 'node:fs'
      const env = await createEnv()
      const print = item => console.log(JSON.stringify(item))
      ${script}
      print(process.resourceUsage().maxRSS / 1024)`
    const lines = execFileSync(process.execPath, ['--input-type=module', '-e', text], { cwd: folder, encoding: 'utf8' }).trim().split('\n').map(line => JSON.parse(line))
    const peak = lines.pop()
    assert.ok(peak < 300, `${peak} MB were in use`)
    return lines
  }

  for (const [way, source] of [['a path', "'large.onnx'"], ['a Blob', "await openAsBlob('large.onnx')"]]) {
    it(`is checked, described and written from ${way} within 300 MB`, () => {
      const [report, inputs, length, head] = measured(`
        const files = { 'weights.bin': await openAsBlob('weights.bin') }
        const model = await env.open(${source}, { files })
        print(model.check())
        print(model.inputs)
        const blob = model.toBlob()
        print(blob.size)
        print([...new Uint8Array(await blob.slice(0, 16).arrayBuffer())])`)
      assert.deepEqual([report.ok, report.complete, report.findings], [true, true, []])
      assert.deepEqual(inputs, [{ name: 'x', type: 'tensor(float)', shape: [32 * MB] }])
      assert.equal(length, size)
      assert.deepEqual(head, [...readHead(join(folder, 'large.onnx'))])
    })
  }

  for (const [way, source] of [['a path', "'large.onnx'"], ['a Blob', "await openAsBlob('large.onnx')"]]) {
    it(`is edited and written from ${way} within 300 MB`, () => {
      const [inputs, length, again, nodes, report] = measured(`
        const files = { 'weights.bin': await openAsBlob('weights.bin') }
        const model = await env.open(${source}, { files })
        model.edit([{ setMetadata: 'author', value: 'tests' }, { renameInput: 'x', to: 'image' }, { renameValue: 'w0', to: 'first weights' }, { renameNode: 47, to: 'last' }])
        print(model.inputs.map(({ name }) => name))
        const blob = model.toBlob()
        print(blob.size)
        const again = await env.open(blob, { files })
        print(again.inputs.map(({ name }) => name))
        print([again.nodes().at(0).inputs, again.nodes().at(-1).name])
        print(again.check())`)
      assert.deepEqual([inputs, again, nodes], [['image'], ['image'], [['image', 'first weights'], 'last']])
      assert.ok(length > size)
      assert.deepEqual([report.ok, report.complete, report.findings.map(({ rule }) => rule)], [true, true, ['model.node.unnamed']])
    })
  }

  it('a session says how much memory it would take', () => {
    const [error] = measured(`
      const model = await env.open('large.onnx', { files: { 'weights.bin': await openAsBlob('weights.bin') } })
      await env.createSession(model).catch(({ code, message }) => print({ code, message }))`)
    assert.deepEqual([error.code, /6442450944 bytes/.test(error.message)], ['limit', true])
  })

  it('a caller can cancel while data is brought in', () => {
    const [error] = measured(`
      const model = await env.open('some.onnx', { files: { 'weights.bin': await openAsBlob('weights.bin') } })
      const controller = new AbortController()
      setTimeout(() => controller.abort(), 5)
      await model.load({ signal: controller.signal }).catch(({ code }) => print({ code }))`)
    assert.equal(error.code, 'aborted')
  })

  // The command in a process of its own: its exit code, what it printed, and the most memory that it took in MB.
  function command (...words) {
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', `
      process.on('exit', () => process.stderr.write('\\n' + process.resourceUsage().maxRSS / 1024))
      process.argv.splice(1, process.argv.length, 'opspec', ...${JSON.stringify(words)})
      await import(${JSON.stringify(pathToFileURL(cli).href)})`], { cwd: folder, encoding: 'utf8' })
    const [, stderr, peak] = /^([^]*)\n(.*)$/.exec(run.stderr)
    return { code: run.status, stdout: run.stdout, stderr, peak: Number(peak) }
  }

  for (const name of ['large', 'constants', 'far']) {
    it(`opspec show and check: ${name}.onnx`, () => {
      for (const word of ['show', 'check']) {
        const { code, stdout, stderr, peak } = command(word, `${name}.onnx`, '--format', 'json')
        assert.equal(code, 0, stdout + stderr)
        assert.ok(peak < 300, `${peak} MB were in use`)
        const answer = JSON.parse(stdout)
        if (word === 'show') assert.equal(answer.value.graph.node.length, name === 'far' ? 24 : 48)
        else assert.deepEqual(answer.files.map(({ kind, ok, complete }) => [kind, ok, complete]), [['model', true, true]])
      }
    })
  }

  it('opspec convert writes a large model while it reads it', async () => {
    writeLargeModel(join(folder, 'more.onnx'), { inside: 3, elements: 32 * MB })
    const { code, stderr, peak } = command('convert', 'more.onnx', '--to', 'json', '-o', '/dev/null')
    assert.equal(code, 0, stderr)
    assert.ok(peak < 300, `${peak} MB were in use`)

    writeLargeModel(join(folder, 'just.onnx'), { inside: 1, elements: 17 * MB })
    const bytes = readFileSync(join(folder, 'just.onnx'))
    const env = await entry.createEnv()
    const text = `${env.format(bytes, 'ModelProto', 'json')}\n`
    env.dispose()
    for (const [to, content] of [['json', text], ['protobuf', bytes]]) {
      const made = command('convert', 'just.onnx', '--to', to, '-o', `just.${to}`, '--format', 'json')
      assert.equal(made.code, 0, made.stderr)
      const digest = createHash('sha256').update(content).digest('hex')
      assert.deepEqual(JSON.parse(made.stdout), { path: `just.${to}`, to, bytes: Buffer.byteLength(content), sha256: digest })
      assert.equal(createHash('sha256').update(readFileSync(join(folder, `just.${to}`))).digest('hex'), digest)
    }
    assert.equal(command('convert', 'just.onnx', '--to', 'canonical').code, 2)
  })

  it('opspec convert leaves nothing of what it could not end', () => {
    writeFileSync(join(folder, 'cut.onnx'), readFileSync(join(folder, 'just.onnx')).subarray(0, 66 * MB))
    const cut = command('convert', 'cut.onnx', '--to', 'json', '-o', 'cut.json')
    assert.equal(cut.code, 2)
    assert.match(cut.stderr, /wire\.truncated/)
    assert.deepEqual(readdirSync(folder).filter(name => name.startsWith('cut.')), ['cut.onnx'])
    const large = command('convert', 'more.onnx', '--to', 'onnxtxt', '-o', 'more.onnxtxt', '--max-memory', '67108864')
    assert.equal(large.code, 2)
    assert.match(large.stderr, /more\.onnx has \d+ bytes/)
    assert.equal(existsSync(join(folder, 'more.onnxtxt')), false)
  })

  it('opspec run takes weights from large files', () => {
    writeLargeModel(join(folder, 'weights-beside.onnx'), { beside: 1, elements: 17 * MB })
    for (const name of ['just.onnx', 'weights-beside.onnx']) {
      const { code, stdout, stderr } = command('run', name, '--input', 'x=random')
      assert.equal(code, 0, stderr)
      assert.match(stdout, /^y: tensor\(float\) \[17825792\]: /)
    }
  })

  it('opspec check reads no file outside of the folder', () => {
    symlinkSync('/etc/passwd', join(folder, 'link.bin'))
    writeLargeModel(join(folder, 'link.onnx'), { beside: 1, elements: 4, location: 'link.bin' })
    const rules = name => JSON.parse(spawnSync(process.execPath, [cli, 'check', '--format', 'json', join(folder, name)], { encoding: 'utf8' }).stdout).files[0].findings.map(({ rule }) => rule)
    assert.deepEqual(rules('escape.onnx'), ['onnx.external.location'])
    assert.deepEqual(rules('link.onnx'), ['onnx.external.missing'])
  })
})


// Every ONNX file of the public corpora as JSON, as text and in ONNX's syntax, and back; the same messages written as no program
// writes them; and the texts of other programs: protobufjs, and protoc where the toolchain is.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import protojson from 'protobufjs/ext/protojson.js'
import textformat from 'protobufjs/ext/textformat.js'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'
import { generator, messageTypes, rewriter } from '../support/rewrite.js'

const messages = {
  model: 'ModelProto', graph: 'GraphProto', function: 'FunctionProto', tensor: 'TensorProto', 'sparse-tensor': 'SparseTensorProto',
  sequence: 'SequenceProto', map: 'MapProto', optional: 'OptionalProto', 'operator-set': 'OperatorSetProto'
}
const names = ['onnx-tests-1.22', 'onnx-recorded-1.20', 'checker-probes']
const folders = names.map(corpus)
const skip = folders.map(({ skip }) => skip).find(Boolean) || false

const same = (a, b) => Buffer.from(a.buffer, a.byteOffset, a.length).equals(b)
const paths = () => folders.flatMap(({ folder }) => filesBelow(folder).filter(name => /\.(onnx|pb)$/.test(name)).map(name => join(folder, name)))

// What fails, shortly: a corpus has thousands of files.
function all (list, check) {
  const failed = []
  for (const item of list) {
    try {
      check(item)
    } catch (error) {
      failed.push(`${item.path ?? item}: ${error.message.slice(0, 300)}`)
    }
  }
  assert.deepEqual(failed.slice(0, 10), [], `${failed.length} of ${list.length} failed`)
}

describe('documents', { skip }, () => {
  let env, files
  before(async () => {
    env = await createEnv()
    files = paths().map(path => ({ path, bytes: readFileSync(path) })).filter(({ bytes }) => bytes.length > 0)
    for (const file of files) file.type = file.path.endsWith('.onnx') ? 'ModelProto' : messages[Env.sniff(env, file.bytes).kind]
  })
  after(() => env.dispose())

  it('has the corpora', () => {
    assert.ok(files.length >= 8000, `${files.length} files`)
    assert.deepEqual(files.filter(({ type }) => type === undefined).map(({ path }) => path), [])
  })

  it('a model that was not edited writes the bytes that it came from', () => {
    all(files.filter(({ type }) => type === 'ModelProto'), ({ bytes }) => {
      const model = env.loadModel(bytes)
      assert.ok(same(model.toBytes(), bytes))
      model.dispose()
    })
  })

  // What a file says, in the one order that edited messages have.
  const plain = ({ bytes, type }) => env.parse(env.format(bytes, type, 'textproto'), type, 'textproto')

  it('text and JSON hold all of it', () => {
    all(files, file => {
      const { bytes, type } = file
      const first = plain(file)
      assert.deepEqual(env.decode(first, type), env.decode(bytes, type), 'by text')
      assert.ok(same(env.parse(env.format(bytes, type, 'json'), type, 'json'), first), 'by JSON')
      assert.ok(same(env.encode(env.decode(bytes, type), type), first), 'by objects')
    })
  })

  it("so does ONNX's syntax", () => {
    all(files.filter(({ type }) => type === 'ModelProto'), file => {
      const text = env.format(file.bytes, 'ModelProto', 'onnxtxt')
      assert.ok(same(env.parse(text, 'ModelProto', 'onnxtxt'), plain(file)))
    })
  })

  it('messages in forms that no program writes: 500 by seed', () => {
    const types = messageTypes()
    let changed = 0
    const small = files.filter(({ bytes }) => bytes.length < 4000)
    all(Array.from({ length: 500 }, (_, i) => ({ path: `seed ${i}`, seed: i })), ({ seed }) => {
      const random = generator(seed)
      const file = small[random.below(small.length)]
      const unknown = seed % 2 === 1
      const { type } = file
      const bytes = rewriter(types, random, { unknown })(file.bytes, type)
      changed += !same(bytes, file.bytes)
      if (unknown) {
        // Kept through a text, which says them.
        const text = env.format(bytes, type, 'textproto')
        assert.equal(env.format(env.parse(text, type, 'textproto'), type, 'textproto'), text, file.path)
        assert.deepEqual(env.decode(bytes, type), env.decode(file.bytes, type), file.path)
      } else {
        assert.ok(same(plain({ bytes, type }), plain(file)), file.path)
      }
      if (type !== 'ModelProto') return
      const model = env.loadModel(bytes)
      assert.ok(same(model.toBytes(), bytes))
      assert.equal(model.toText(), env.format(bytes, type, 'textproto'))
      model.dispose()
    })
    assert.ok(changed > 450, `only ${changed} were written in another form`)
  })

  it('200 more with names that are no UTF-8 and with signalling NaNs: kept as bytes, and said where a form cannot hold them', () => {
    const types = messageTypes()
    const models = files.filter(({ bytes, type }) => type === 'ModelProto' && bytes.length < 4000)
    const lost = { json: 0, textproto: 0, onnxtxt: 0 }
    all(Array.from({ length: 200 }, (_, i) => ({ path: `seed ${i}`, seed: i })), ({ seed }) => {
      const random = generator(10_000 + seed)
      const file = models[random.below(models.length)]
      const bytes = rewriter(types, random, { unknown: seed % 2 === 1, odd: true })(file.bytes, 'ModelProto')
      const model = env.loadModel(bytes)
      assert.ok(same(model.toBytes(), bytes), file.path)
      model.dispose()
      for (const form of Object.keys(lost)) {
        let text
        try {
          text = env.format(bytes, 'ModelProto', form)
        } catch (error) {
          assert.equal(error.code, 'unsupported', file.path)
          assert.ok(error.findings.length > 0 && error.findings.every(({ rule }) => rule === 'form.lost'), file.path)
          lost[form]++
          text = env.format(bytes, 'ModelProto', form, { lossy: true })
          env.parse(text, 'ModelProto', form)
          continue
        }
        // All of it: what is read from there says the same.
        const again = env.parse(text, 'ModelProto', form)
        assert.equal(env.format(again, 'ModelProto', 'textproto'), env.format(bytes, 'ModelProto', 'textproto'), file.path)
      }
    })
    assert.ok(lost.json > 150 && lost.textproto > 3 && lost.textproto < 150, JSON.stringify(lost))
  })

  it('signalling NaNs and names that are no UTF-8 stay as they are', () => {
    const delimited = (number, bytes) => [number * 8 + 2, bytes.length, ...bytes]
    const attribute = [...delimited(1, [0x61]), 0x15, 1, 0, 0x80, 0x7f, 0xa0, 1, 1]
    const node = [...delimited(1, [0xff]), ...delimited(5, attribute)]
    const bytes = Buffer.from([8, 8, ...delimited(7, delimited(1, node))])
    const model = env.loadModel(bytes)
    assert.ok(same(model.toBytes(), bytes))
    assert.throws(() => model.toText(), error => error.code === 'unsupported' && error.findings.every(({ rule }) => rule === 'form.lost'))
    assert.match(model.toText('textproto', { lossy: true }), /input: \["\\377"\]/)
    model.dispose()
  })

  // ---- Other programs ---------------------------------------------------------------------------------------------

  const some = () => {
    const models = files.filter(({ type, bytes }) => type === 'ModelProto' && bytes.length < 200000)
    return Array.from({ length: 300 }, (_, i) => models[Math.floor(i * models.length / 300)])
  }

  it('300 models: protobufjs reads our texts, and we read its', () => {
    const type = messageTypes().lookupType('onnx.ModelProto')
    all(some(), ({ bytes }) => {
      const message = type.decode(bytes), written = type.encode(message).finish()
      const bytesOf = read => type.encode(read).finish()
      assert.ok(same(bytesOf(protojson.fromJsonString(type, env.format(bytes, 'ModelProto', 'json'))), written), 'our JSON')
      assert.ok(same(bytesOf(textformat.fromText(type, env.format(bytes, 'ModelProto', 'textproto'))), written), 'our text')
      const first = env.parse(env.format(bytes, 'ModelProto', 'textproto'), 'ModelProto', 'textproto')
      assert.ok(same(env.parse(protojson.toJsonString(type, message), 'ModelProto', 'json'), first), 'its JSON')
      assert.ok(same(env.parse(textformat.toText(type, message), 'ModelProto', 'textproto'), first), 'its text')
    })
  })

  const toolchain = process.env.OPSPEC_TOOLCHAIN ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'opspec/toolchain')
  const protoc = join(toolchain, 'bin/protoc-c') // protoc with one generator more
  it('300 models: protoc reads our texts, and we read its', { skip: existsSync(protoc) ? false : `there is no ${protoc}` }, () => {
    const work = mkdtempSync(join(tmpdir(), 'opspec-protoc-'))
    try {
      const proto = fileURLToPath(new URL('../../proto', import.meta.url))
      writeFileSync(join(work, 'many.proto'), 'syntax = "proto2";\nimport "onnx.proto";\nmessage Many { repeated onnx.ModelProto model = 1; }\n')
      const library = join(toolchain, 'src/protobuf-c-1.5.1')
      const run = (mode, input) => execFileSync(protoc, [`--${mode}=Many`, '-I', work, '-I', proto, '-I', join(toolchain, 'include'), '-I', library, 'many.proto'],
        { input, maxBuffer: 2 ** 30, stdio: ['pipe', 'pipe', 'ignore'] })
      const models = some()
      const plains = models.map(plain)
      const written = run('encode', models.map(({ bytes }) => `model {\n${env.format(bytes, 'ModelProto', 'textproto')}\n}\n`).join(''))
      const texts = run('decode', written).toString('utf8').split(/^model \{\n/m).slice(1).map(text => text.replace(/\}\n$/, ''))
      assert.equal(texts.length, models.length)
      all(models.map(({ path }, i) => ({ path, i })), ({ i }) => assert.ok(same(env.parse(texts[i], 'ModelProto', 'textproto'), plains[i])))
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  })
})

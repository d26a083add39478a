// Values as evidence documents have them: format and parse, there and back with types and all.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'

const tensor = (type, data, dims = [data.length]) => new Tensor(type, data, dims)

describe('the form of evidence documents', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const sparse = new SparseTensor('float32', tensor('float32', [1, 2]), tensor('int64', [1n, 7n]), [3, 4])
  const cases = [
    ['tensor', tensor('float32', [1, 0.1, NaN, -Infinity]), undefined, '{"type":"tensor(float)","shape":[4],"data":[1,0.1,"NaN","-Infinity"]}'],
    ['tensor', tensor('int64', [1n, -9007199254740993n], [2, 1]), undefined, '{"type":"tensor(int64)","shape":[2,1],"data":[1,"-9007199254740993"]}'],
    ['tensor', tensor('string', ['ä'], []), undefined, '{"type":"tensor(string)","shape":[],"data":["ä"]}'],
    ['tensor', tensor('bool', [true, false]), undefined, '{"type":"tensor(bool)","shape":[2],"data":[true,false]}'],
    ['tensor', tensor('int4', [-8, 7, 1]), undefined, '{"type":"tensor(int4)","shape":[3],"data":[-8,7,1]}'],
    ['tensor', tensor('complex64', [1, 2], [1]), undefined, '{"type":"tensor(complex64)","shape":[1],"data":[1,2]}'],
    ['sparse-tensor', sparse, undefined, '{"type":"sparse_tensor(float)","shape":[3,4],"values":[1,2],"indices":[1,7]}'],
    ['sequence', [tensor('float32', [1]), tensor('float32', [2, 3])], undefined, '{"type":"seq(tensor(float))","items":[{"type":"tensor(float)","shape":[1],"data":[1]},{"type":"tensor(float)","shape":[2],"data":[2,3]}]}'],
    ['map', new Map([[-1n, tensor('float32', [1, 2])], [5n, tensor('float32', [], [0])]]), 'map(int32, tensor(float))', '{"type":"map(int32, float)","entries":[[-1,{"type":"tensor(float)","shape":[2],"data":[1,2]}],[5,{"type":"tensor(float)","shape":[0],"data":[]}]]}'],
    ['map', new Map([['a', 0.5]]), 'map(string, double)', '{"type":"map(string, double)","entries":[["a",0.5]]}'],
    ['optional', tensor('float32', [1]), 'optional(tensor(float))', '{"type":"optional(tensor(float))","value":{"type":"tensor(float)","shape":[1],"data":[1]}}']
  ]
  for (const [kind, value, type, text] of cases) {
    it(text.slice(0, 70), () => {
      const bytes = env.writeValue(value, 'v', type)
      assert.equal(env.format(bytes, kind, 'evidence'), text)
      const again = env.parse(text, kind, 'evidence')
      assert.deepEqual(env.readValue(again, kind), env.readValue(bytes, kind))
      assert.equal(env.format(again, kind, 'evidence'), text)
      assert.deepEqual(env.diff(bytes, again, { as: kind }).changes.map(({ rule }) => rule), ['diff.message.text'].filter(() => kind !== 'sparse-tensor'))
      assert.equal(env.check(again, { as: kind }).ok, true)
    })
  }

  it('a map of tensors with a rank is read back', () => {
    for (const list of [[1, 2], [1], []]) {
      const map = new Map([['a', tensor('float32', list)], ['b', tensor('float32', [7])]])
      const bytes = env.writeValue(map, 'm')
      assert.deepEqual(env.readValue(bytes, 'map'), map)
      assert.deepEqual(env.check(bytes, { as: 'map' }).findings, [])
    }
    const mixed = new Map([['a', 1], ['b', tensor('float32', [7, 8])]])
    assert.deepEqual(env.readValue(env.writeValue(mixed, 'm', 'map(string, tensor(float))'), 'map'), mixed)
    const nested = new Map([[1n, new Map([['a', tensor('int64', [1n, 2n])]])], [2n, new Map([['b', tensor('int64', [3n], [1, 1])]])]])
    assert.deepEqual(env.readValue(env.writeValue(nested, 'm'), 'map'), nested)
  })

  it('strings that are no texts are refused, with their places, or lost on request', () => {
    const broken = Uint8Array.of(0x61, 0xff)
    const strings = list => ({ dims: [BigInt(list.length)], dataType: 8, stringData: list })
    const cases = [
      ['tensor', strings([Uint8Array.of(0x61), broken, broken]), ['string_data[1]', 'string_data[2]']],
      ['sequence', { elemType: 1, tensorValues: [strings([]), strings([broken])] }, ['tensor_values[1].string_data[0]']],
      ['map', { keyType: 8, stringKeys: [Uint8Array.of(0x61), broken], values: { elemType: 1, tensorValues: [1, 2].map(x => ({ dataType: 1, floatData: [x] })) } }, ['string_keys[1]']],
      ['map', { keyType: 7, keys: [4n], values: { elemType: 1, tensorValues: [{ dataType: 8, stringData: [broken] }] } }, ['values.tensor_values[0].string_data[0]']],
      ['optional', { elemType: 1, tensorValue: strings([broken]) }, ['tensor_value.string_data[0]']]
    ]
    const messages = { tensor: 'TensorProto', sequence: 'SequenceProto', map: 'MapProto', optional: 'OptionalProto' }
    for (const [kind, object, paths] of cases) {
      const bytes = env.encode(object, messages[kind])
      assert.throws(() => env.format(bytes, kind, 'evidence'), error => {
        assert.equal(error.code, 'unsupported')
        assert.deepEqual(error.findings.map(({ rule, severity, path }) => [rule, severity, path]), paths.map(path => ['form.lost', 'warning', path]))
        return true
      }, kind)
      assert.match(env.format(bytes, kind, 'evidence', { lossy: true }), /"a\ufffd"/)
    }
    // The replacement character may be what the text has.
    assert.equal(env.format(env.encode(strings([new TextEncoder().encode('\ufffd')]), 'TensorProto'), 'tensor', 'evidence'), '{"type":"tensor(string)","shape":[1],"data":["\ufffd"]}')
  })

  it('an optional that is empty and does not say of what is null', () => {
    for (const elemType of [0, 1]) {
      const text = env.format(env.encode({ name: 'o', elemType }, 'OptionalProto'), 'optional', 'evidence')
      assert.equal(text, 'null')
      const again = env.parse(text, 'optional', 'evidence')
      assert.equal(env.format(again, 'optional', 'evidence'), 'null')
      assert.equal(env.check(again, { as: 'optional' }).ok, true)
      assert.equal(env.readValue(again, 'optional'), null)
    }
  })

  it('what it is not for', () => {
    const refused = (code, job) => assert.throws(job, error => error instanceof OpspecError && error.code === code)
    refused('unsupported', () => env.format(env.encode({}, 'ModelProto'), 'ModelProto', 'evidence'))
    refused('unsupported', () => env.format('{}', 'spec', 'evidence'))
    refused('malformed', () => env.parse('{"type":"seq(tensor(float))","items":[]}', 'tensor', 'evidence'))
    refused('malformed', () => env.parse('null', 'tensor', 'evidence'))
    refused('malformed', () => env.parse('{"type":"tensor(float)","shape":[2],"data":[1]}', 'tensor', 'evidence'))
    refused('malformed', () => env.parse('{', 'tensor', 'evidence'))
  })
})

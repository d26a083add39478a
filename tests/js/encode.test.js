// Objects become bytes in JavaScript where they are as they should be, and in the module where they are not: both give the
// same. An object whose prototype is another one goes to the module.
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { denseDocuments } from '../support/dense.js'

const values = [
  null, undefined, -0, 1.5, 0.1, NaN, Infinity, -Infinity, 1e39, 1e-40, 5e-324, 1 + 2 ** -24, 1 + 2 ** -24 + 2 ** -52, 2 ** 31, -(2 ** 31), 2 ** 53, 1 - 2 ** 53, 1e21,
  5n, -5n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 64n - 1n, 2n ** 64n,
  '', 'x', '5', '-7', '0.5', 'FLOAT', 'eHl6', 'a\0b', '\ud800', 'é€😀', 'é'.repeat(300), 'x'.repeat(30), true, Symbol('none'), () => 1,
  {}, [], [null], [undefined], Array(2), [[]], [{}, {}, {}], [1, -1, 300], [1n, -1n, 300n], ['', 'a'], [0.1, -0, NaN], new Date(0), new Map(), new String('a'),
  Object.create(null), { toJSON: () => [1] }, Object.assign([1], { toJSON: () => [2] }), { opType: 'Relu', name: 'n' }, { name: 'n', op_type: 'Relu' },
  { dimValue: 3n, dimParam: 'n' }, { tensorType: {}, sequenceType: {} }, { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 3 }, { dimParam: 'n' }, {}] } } },
  new Uint8Array(0), new Uint8Array([1, 2, 3]), [new Uint8Array(2), new Uint8Array(0)], Buffer.from('abc'), new DataView(new ArrayBuffer(4)),
  new Float32Array([1, 2.5]), new Float64Array([0.1, 3]), new BigInt64Array([1n, -1n]), new BigUint64Array([2n ** 64n - 1n]), new Int32Array([1, -2])
]
const fields = {
  ModelProto: ['irVersion', 'producer_name', 'graph', 'opsetImport', 'functions', 'none'],
  NodeProto: ['input', 'opType', 'attribute'],
  AttributeProto: ['name', 'f', 'i', 's', 't', 'g', 'type', 'floats', 'ints', 'strings', 'tensors'],
  TensorProto: ['dims', 'dataType', 'floatData', 'int32Data', 'stringData', 'int64_data', 'rawData', 'doubleData', 'uint64Data', 'dataLocation', 'externalData'],
  TypeProto: ['tensorType', 'denotation'],
  TensorShapeProto: ['dim']
}

describe('encode', () => {
  let env
  before(async () => { env = await createEnv() })

  const answer = (object, as) => {
    try {
      return Buffer.from(env.encode(object, as)).toString('hex')
    } catch ({ code, message, path, findings }) {
      return { code, message, path, findings }
    }
  }
  const same = (object, as) => {
    const given = answer(object, as)
    assert.deepEqual(given, answer(Object.assign(Object.create({}), object), as))
    return given
  }

  it('objects of decode', () => {
    for (const [name, make] of denseDocuments()) {
      for (const count of [1, 3]) {
        const bytes = make(count)
        let object
        try {
          object = env.decode(bytes, 'ModelProto')
        } catch (error) {
          assert.equal(error.code, 'malformed', name)
          continue
        }
        same(object, 'ModelProto')
      }
    }
  })

  for (const [as, names] of Object.entries(fields)) {
    it(`odd values in a ${as}`, () => {
      for (const name of names) for (const value of values) same({ [name]: value }, as)
    })
  }

  it('fields in any order, and twice', () => {
    const tensor = { name: 'x', rawData: new Uint8Array([1, 2]), dims: [2n], dataType: 2 }
    assert.equal(same(tensor, 'TensorProto'), '080210024201784a020102')
    assert.equal(same({ rawData: new Uint8Array(1), raw_data: new Uint8Array(1) }, 'TensorProto').code, 'malformed')
    assert.equal(same({ dims: [1n], raw_data: null, rawData: new Uint8Array([3]) }, 'TensorProto'), '08014a0103')
  })

  it('messages within each other, as deep as the limit says', () => {
    const deep = levels => {
      let graph = { name: 'x' }
      for (let i = 0; i < levels; i++) graph = { node: [{ attribute: [{ g: graph }] }] }
      return { graph }
    }
    const answers = Array.from({ length: 6 }, (_, i) => same(deep(82 + i), 'ModelProto'))
    assert.equal(typeof answers[0], 'string')
    assert.equal(answers.at(-1).code, 'limit')
    for (const levels of [200, 900]) assert.notEqual(same(deep(levels), 'ModelProto').code, undefined)
    const circle = {}
    circle.graph = circle
    assert.equal(answer(circle, 'ModelProto').code, 'invalid_argument')
  })

  it('an object that asks for another one while it is read', () => {
    const object = { name: 'x', get docString() { return Buffer.from(env.encode({ name: 'y' }, 'TensorProto')).toString('hex') } }
    assert.equal(answer(object, 'TensorProto'), Buffer.from(env.encode({ name: 'x', docString: '420179' }, 'TensorProto')).toString('hex'))
  })
})

describe('a check that keeps few findings', () => {
  it('tells places as one does that keeps more', async () => {
    const [few, more] = [await createEnv({ limits: { findings: 2 } }), await createEnv()]
    const told = (env, bytes, options) => env.check(bytes, { as: 'model', ...options }).findings.map(finding => JSON.stringify(finding))
    let count = 0
    for (const [name, make] of denseDocuments()) {
      for (const full of [false, true]) {
        const all = new Set(told(more, make(12), { full }))
        for (const finding of told(few, make(12), { full })) {
          count++
          assert.ok(all.has(finding), `${name}: ${finding}`)
        }
      }
    }
    assert.ok(count > 100)
  })
})

// Tensors of the caller's: what the constructor takes, refuses and makes of it. No engine.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'

const refuses = (make, argument) => assert.throws(make, error => {
  assert.ok(error instanceof OpspecError, String(error))
  assert.equal(error.code, 'invalid_argument')
  assert.ok(error.message.startsWith(argument), `'${error.message}' does not name ${argument}`)
  return true
})

describe('Tensor', () => {
  const arrays = {
    float32: Float32Array, float64: Float64Array, float16: Uint16Array, bfloat16: Uint16Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
    uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array, int4: Int8Array, uint4: Uint8Array,
    int2: Int8Array, uint2: Uint8Array, float8e4m3fn: Uint8Array, float8e4m3fnuz: Uint8Array, float8e5m2: Uint8Array, float8e5m2fnuz: Uint8Array,
    float8e8m0: Uint8Array, float4e2m1: Uint8Array
  }
  for (const [type, Array] of Object.entries(arrays)) {
    it(`${type}: a list becomes ${Array.name}`, () => {
      const tensor = new Tensor(type, [1, 0, 1])
      assert.ok(tensor.data instanceof Array)
      assert.deepEqual(tensor.dims, [3])
      assert.equal(tensor.size, 3)
      // float8e8m0 has no zero.
      const plain = type === 'bool' ? [true, false, true] : type.endsWith('int64') ? [1n, 0n, 1n] : type === 'float8e8m0' ? [1, NaN, 1] : [1, 0, 1]
      assert.deepEqual(tensor.toArray(), plain)
    })
    it(`${type}: its typed array is taken as it is`, () => {
      const data = new Array(2)
      assert.equal(new Tensor(type, data, [1, 2]).data, data)
    })
  }

  it('takes lists of the types that onnxruntime-common takes', () => {
    assert.deepEqual([...new Tensor('int64', [1, -2n]).data], [1n, -2n])
    assert.deepEqual([...new Tensor('bool', [true, false, 1, 0]).data], [1, 0, 1, 0])
    assert.deepEqual(new Tensor('string', ['a', 'ö']).data, ['a', 'ö'])
    assert.deepEqual([...new Tensor('complex64', [1, 2, 3, 4]).data], [1, 2, 3, 4])
    assert.deepEqual(new Tensor('complex64', [1, 2, 3, 4]).dims, [2])
    assert.deepEqual(new Tensor('complex64', [1, 2, 3, 4]).toArray(), [[1, 2], [3, 4]])
  })

  it('rounds lists of narrow floats to nearest, ties to even', () => {
    assert.deepEqual([...new Tensor('float16', [1, -2, 65504, 65520, 2049, 2 ** -24, NaN]).data], [0x3c00, 0xc000, 0x7bff, 0x7c00, 0x6800, 1, 0x7e00])
    assert.deepEqual([...new Tensor('bfloat16', [1, 3.140625, -Infinity]).data], [0x3f80, 0x4049, 0xff80])
    assert.deepEqual([...new Tensor('float8e4m3fn', [448, 1000, -0.5]).data], [0x7e, 0x7e, 0xb0])
    assert.deepEqual(new Tensor('float16', Uint16Array.of(0x3555)).toArray(), [0.333251953125])
  })

  it('unpacks 4- and 2-bit data, low bits first', () => {
    assert.deepEqual([...new Tensor('int4', Int8Array.of(-15, 8), [3]).data], [1, -1, -8])
    assert.deepEqual([...new Tensor('uint4', Uint8Array.of(0xf1, 0x08), [3]).data], [1, 15, 8])
    assert.deepEqual([...new Tensor('int2', Int8Array.of(0b11100100), [4]).data], [0, 1, -2, -1])
    assert.deepEqual([...new Tensor('int4', Int8Array.of(-8), [1]).data], [-8])
  })

  it('nests toArray by dims', () => {
    assert.deepEqual(new Tensor('int32', [1, 2, 3, 4, 5, 6], [2, 3]).toArray(), [[1, 2, 3], [4, 5, 6]])
    assert.equal(new Tensor('float32', [7], []).toArray(), 7)
    assert.deepEqual(new Tensor('float32', [], [2, 0]).toArray(), [[], []])
  })

  it('names the argument that is wrong', () => {
    refuses(() => new Tensor('float', [1]), "type: 'float' is no element type; did you mean 'float32'?")
    refuses(() => new Tensor('nonsense', [1]), 'type')
    refuses(() => new Tensor(undefined, [1]), 'type')
    refuses(() => new Tensor('float32', 5), 'data')
    refuses(() => new Tensor('float32', null), 'data')
    refuses(() => new Tensor('float32', [1, 2], [3]), 'data')
    refuses(() => new Tensor('float32', new Float64Array(1)), 'data')
    refuses(() => new Tensor('float32', ['1']), 'data')
    refuses(() => new Tensor('int8', [200]), 'data')
    refuses(() => new Tensor('uint8', [-1]), 'data')
    refuses(() => new Tensor('int32', [1.5]), 'data')
    refuses(() => new Tensor('int64', [1.5]), 'data')
    refuses(() => new Tensor('int64', [2n ** 63n]), 'data')
    refuses(() => new Tensor('uint64', [-1n]), 'data')
    refuses(() => new Tensor('bool', [2]), 'data')
    refuses(() => new Tensor('string', [1]), 'data')
    refuses(() => new Tensor('string', new Uint8Array(1)), 'data')
    refuses(() => new Tensor('float32', [1], [-1]), 'dims')
    refuses(() => new Tensor('float32', [1], [1.5]), 'dims')
    refuses(() => new Tensor('float32', [1], 1), 'dims')
    refuses(() => new Tensor('float32', [], [2 ** 30, 2 ** 30, 0, 2 ** 53]), 'dims')
    refuses(() => new Tensor('float32', [1], new Array(17).fill(1)), 'dims')
  })

  it('can be used with `using` where the engine has Symbol.dispose', { skip: Symbol.dispose === undefined && 'this engine has no Symbol.dispose' }, () => {
    assert.equal(typeof new Tensor('float32', [1])[Symbol.dispose], 'function')
  })
})

describe('SparseTensor', () => {
  it('holds values and indices', () => {
    const sparse = new SparseTensor('float32', new Tensor('float32', [1, 2]), new Tensor('int64', [0, 3]), [4])
    assert.deepEqual(sparse.dims, [4])
    assert.equal(sparse.values.data[1], 2)
  })
  it('names the argument that is wrong', () => {
    const values = new Tensor('float32', [1])
    const indices = new Tensor('int64', [0])
    refuses(() => new SparseTensor('float', values, indices, [4]), 'type')
    refuses(() => new SparseTensor('float32', indices, indices, [4]), 'values')
    refuses(() => new SparseTensor('float32', values, values, [4]), 'indices')
    refuses(() => new SparseTensor('float32', values, indices, [-4]), 'dims')
  })
})

describe('OpspecError', () => {
  it('is an Error with a code', () => {
    const error = new OpspecError('limit', 'too much', { path: 'graph', findings: [], cause: 7 })
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'OpspecError')
    assert.deepEqual([error.code, error.message, error.path, error.findings, error.cause], ['limit', 'too much', 'graph', [], 7])
    assert.ok(!('path' in new OpspecError('limit', 'x')))
  })
})

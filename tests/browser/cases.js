// The same questions to the package in every host: what it answers must not depend on where it runs.

const plain = value => {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value)
  if (value === null || typeof value !== 'object') return value
  if (value instanceof Map) return [...value].map(([key, item]) => [plain(key), plain(item)])
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

const attempt = async ask => {
  try {
    return plain(await ask())
  } catch (error) {
    return { code: error.code, message: error.message }
  }
}

const tensor = ({ type, dims, data }) => ({ type, dims, data })

/**
 * @param env an Env, or the client of one in a worker
 * @param {{ Tensor: Function, applyFixes: Function }} entry the package's entry
 * @param {{ documents: [string, string][], models: [string, number[]][] }} data texts, and models with their bytes
 * @returns {Promise<[string, unknown][]>}
 */
export async function answers(env, { Tensor, applyFixes }, { documents, models }) {
  const out = []
  const add = async (name, ask) => { out.push([name, await attempt(ask)]) }
  for (const [name, text] of documents) {
    await add(`validateSpec ${name}`, () => env.validateSpec(text))
    await add(`check ${name}`, () => env.check(text))
    await add(`fixes ${name}`, async () => applyFixes(text, (await env.validateSpec(text)).findings))
  }
  for (const [name, numbers] of models) {
    const bytes = Uint8Array.from(numbers)
    await add(`check ${name}`, () => env.check(bytes))
    await add(`decode ${name}`, () => env.decode(bytes, 'ModelProto'))
    await add(`run ${name}`, async () => {
      const session = await env.createSession(bytes)
      const data = Float32Array.from({ length: 24 }, (_, index) => Math.sin(index) * 4)
      const outputs = await session.run({ x: new Tensor('float32', data, [2, 3, 4]) })
      await session.dispose()
      return Object.entries(outputs).map(([key, value]) => [key, tensor(value)])
    })
  }
  await add('operators', async () => (await env.operators()).length)
  await add('explain', () => env.explain('spec.attribute.default-type'))
  await add('explain nothing', () => env.explain('no.such.rule'))
  await add('no bytes', () => env.loadModel(new Uint8Array(0)))
  await add('a tensor', async () => env.readValue(await env.writeValue(new Tensor('int64', [1n, -2n, 2n ** 62n], [3]), 't'), 'tensor'))
  return out
}

// A bundle in the fragment of a link: JSON, deflated, base64url. The fragment is never sent to a server.

const longest = 16000

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())
}

const toBase64 = bytes => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}
const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))

// The fragment without '#', or null when it would be too long for a link.
export async function packLink({ files, active, rules }) {
  const entries = [...files].map(([name, content]) => [name, typeof content === 'string' ? content : { base64: toBase64(content) }])
  const json = JSON.stringify({ format: 1, rules, active, files: entries })
  const packed = await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(json))
  const fragment = `bundle=${toBase64(packed).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
  return fragment.length > longest ? null : fragment
}

// What packLink was given, or null when the fragment holds no bundle. Throws when it is cut or not ours.
export async function unpackLink(fragment) {
  const packed = /^#?bundle=([\w-]+)$/.exec(fragment)?.[1]
  if (!packed) return null
  const bytes = await through(new DecompressionStream('deflate-raw'), fromBase64(packed.replaceAll('-', '+').replaceAll('_', '/')))
  const { format, rules, active, files } = JSON.parse(new TextDecoder().decode(bytes))
  if (format !== 1 || !Array.isArray(files)) throw new Error('the link is of another version')
  const contents = files.map(([name, content]) => [String(name), typeof content === 'string' ? content : fromBase64(content.base64)])
  return { files: new Map(contents), active: String(active), rules: String(rules ?? '') }
}

// Bytes as C: what is needed seldom goes into the module deflated. core/base/packed.h is how it comes out again.

import { deflateRawSync } from 'node:zlib'

const LINE = 32

export const bytesToC = bytes => {
  const lines = []
  for (let at = 0; at < bytes.length; at += LINE) lines.push('  ' + [...bytes.subarray(at, at + LINE)].join(', ') + ',')
  return lines.join('\n')
}

/** The definition of `const os_packed SYMBOL`; whoever includes it also includes packed.h. */
export const packedToC = (symbol, bytes) => {
  const packed = deflateRawSync(bytes, { level: 9, memLevel: 9 })
  return `static const unsigned char ${symbol}_bytes[] = {
${bytesToC(packed)}
};
const os_packed ${symbol} = {${symbol}_bytes, ${packed.length}, ${bytes.length}};
`
}

// Bytes as C. They lie in the module as everything constant does: deflated as a whole (wasm/toolchain/pack-data.js).

const LINE = 32

/** The definition of `const os_str SYMBOL`; whoever includes it also includes bytes.h. */
export const bytesToC = (symbol, bytes) => {
  const lines = []
  for (let at = 0; at < bytes.length; at += LINE) lines.push('  ' + [...bytes.subarray(at, at + LINE)].join(', ') + ',')
  return `static const unsigned char ${symbol}_bytes[] = {
${lines.join('\n')}
};
const os_str ${symbol} = {(const char *)${symbol}_bytes, ${bytes.length}};
`
}

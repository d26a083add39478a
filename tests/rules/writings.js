// Ways to write one document: line ends, indentation, marks and characters that count differently in bytes, UTF-16 and code points.

export const writings = {
  'as it is': text => text,
  'CR LF': text => text.replace(/\r?\n/g, '\r\n'),
  'a byte-order mark': text => `\uFEFF${text}`,
  'tabs': text => text.replace(/^( {2})+/gm, spaces => '\t'.repeat(spaces.length / 2)),
  'emoji': text => text.replace(/"description": "/g, '"description": "👩‍🔬é𝄞 '),
  'all of these': text => `\uFEFF${writings.emoji(writings.tabs(writings['CR LF'](text)))}`,
  'one line': text => text.replace(/\n\s*/g, ' ')
}

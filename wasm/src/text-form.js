// Which form a text of an ONNX document is.

const named = [[/\.json$/i, 'json'], [/\.onnxtxt$/i, 'onnxtxt'], [/\.(textproto|pbtxt|prototxt|pbtext)$/i, 'textproto']]

/** { form, byName }: by the name of its file, else by how it begins (4,096 characters say it). */
export function textForm(name, text) {
  const known = named.find(([pattern]) => pattern.test(name))
  if (known !== undefined) return { form: known[1], byName: true }
  const start = text.slice(0, 4096).replace(/^\ufeff/, '').replace(/^(\s|#.*\n)+/, '')
  return { form: start[0] === '{' ? 'json' : /^(<|\w+ *[(<]|"[^"]*" *\()/.test(start) ? 'onnxtxt' : 'textproto', byName: false }
}

// The bundles that come with the page: specs/samples/NAME/*.
import { inOrder } from './bundle.js'

const texts = import.meta.glob('../specs/samples/*/*', { query: '?raw', import: 'default', eager: true })

const about = {
  'quick-gelu': 'An activation: floats, an attribute, a tolerance',
  'murmur-hash3': 'A hash: strings and integers, exact results',
  'string-split': 'Strings, three outputs whose size only the data tell'
}

function collect() {
  const folders = new Map(Object.keys(about).map(name => [name, new Map()]))
  for (const [path, text] of Object.entries(texts)) {
    const [folder, name] = path.split('/').slice(-2)
    if (!folders.has(folder)) folders.set(folder, new Map())
    folders.get(folder).set(name, text)
  }
  return [...folders].map(([name, files]) => ({ name, about: about[name] ?? '', files: inOrder(files) }))
}

export const samples = collect()

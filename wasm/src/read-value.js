import { normalFiles } from './files.js'
import { fileAtOnce, Outside } from './outside.js'

// The files beside a value's message; bytes stay where they are.
function beside(files) {
  const given = normalFiles(files)
  if (given === null) return null
  return { names: [], complete: false, get: name => fileAtOnce(given.get(name), name), outside: new Outside() }
}

/** What `use(value, message, size)` answers, with the addresses of the value that a message says and of the message. */
export function withValue(engine, source, kind, files, use) {
  const found = beside(files)
  try {
    return engine.guard(() => engine.withBlock(source, (address, size) => {
      const value = engine.exports.opspec_read(engine.port, address, size, engine.putText(kind), found === null ? 0 : 1)
      if (value === 0) throw engine.trouble(engine.resultStatus)
      try {
        return use(value, address, size)
      } finally {
        engine.release(value)
      }
    }), found)
  } finally {
    found?.outside.release()
  }
}

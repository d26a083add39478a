import { isNpy, readNpy } from '../npy.js'
import { CommandError } from './options.js'

// NumPy's files where a tensor is meant.

export const isNpyFile = (path, bytes) => path.endsWith('.npy') || isNpy(bytes)

export function readNpyFile(path, bytes) {
  try {
    return readNpy(bytes)
  } catch (error) {
    throw new CommandError(`${path}: ${error.message}`)
  }
}

/** The bytes of a document; of a NumPy file those of a TensorProto. */
export const documentBytes = (env, path, bytes) => isNpyFile(path, bytes) ? env.writeValue(readNpyFile(path, bytes), '') : bytes

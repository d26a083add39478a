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

// Other programs for protobufs, to be compared with: name -> { decode, encode } of a message.
import { readFileSync } from 'node:fs'
import { createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor.js'
import protobuf7 from 'protobufjs7'

// They cannot find the file that defines protobuf-c's options, and need none of them.
const text = readFileSync(new URL('../../proto/onnx.proto', import.meta.url), 'utf8').replace(/^(import|option) .*$/gm, '')

// protobuf-es wants full names of types.
function qualify (space, message) {
  const own = space.get(message.name)
  for (const field of message.field) {
    const { resolvedType } = own.fieldsArray.find(({ id }) => id === field.number) ?? {}
    if (resolvedType) field.typeName = resolvedType.fullName
  }
  for (const inner of message.nestedType) qualify(own, inner)
}

function ofProtobufjs (library, message) {
  const type = library.parse(text).root.lookupType(`onnx.${message}`)
  return { decode: bytes => type.decode(bytes), encode: object => type.encode(object).finish() }
}

function ofProtobufEs (message) {
  const { root } = protobuf.parse(text)
  const files = root.resolveAll().toDescriptor('proto2')
  for (const file of files.file) for (const inner of file.messageType) qualify(root.lookup(file.package), inner)
  const set = descriptor.FileDescriptorSet.encode(files).finish()
  const schema = createFileRegistry(fromBinary(FileDescriptorSetSchema, set)).getMessage(`onnx.${message}`)
  return { decode: bytes => fromBinary(schema, bytes), encode: object => toBinary(schema, object) }
}

export const peers = message => ({
  'protobufjs 7': ofProtobufjs(protobuf7, message), 'protobufjs 8': ofProtobufjs(protobuf, message), 'protobuf-es 2': ofProtobufEs(message)
})

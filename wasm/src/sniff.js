/** { kind, evidence, candidates } by content. */
export function sniffBytes(engine, bytes) {
  return engine.guard(() => engine.withBlock(bytes, (address, size) => {
    engine.check(engine.exports.opspec_do_sniff(engine.port, address, size))
    return engine.resultJson()
  }))
}

// Findings that these scripts make themselves, in the form of the core's.

/** 64 bits of FNV-1a, for what marks the same finding from one check to the next. */
export function fingerprint({ rule, file = '', path = '', message }) {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode([rule, file, path, message].join('\0'))) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

/** An error that breaks `rule`; `path` is left out where it says nothing. */
export function findingOf(rule, message, path) {
  const out = { rule, severity: 'error', message, ...path ? { path } : {}, related: [] }
  return { ...out, fingerprint: fingerprint(out) }
}

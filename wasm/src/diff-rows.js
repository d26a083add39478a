// How rows of diff rules are written.

const row = (severity, breaking) => (rule, title, why, good, bad, source) => ({ rule, severity, breaking, title, why, good, bad, source })

export const breaking = row('error', true)
export const compatible = row('warning', false)
export const documentation = row('info', false)

// What can be changed in a part of a document.

// details: of the part; model: ModelView. Answers [{ label, act }].
export function editsOf() {
  return []
}

// Draws anew, and gives the focus back to the element that had it (same data-key). What is one element that stays draws itself.
export function redraw(container, content) {
  if (content instanceof Element && container.childNodes.length === 1 && container.firstChild === content) return
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.key : null
  const { scrollTop } = container
  container.replaceChildren(...[content].flat(Infinity).filter(Boolean))
  container.scrollTop = scrollTop
  if (focused) [...container.querySelectorAll('[data-key]')].find(element => element.dataset.key === focused)?.focus()
}

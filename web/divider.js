// The line between the panes: dragged, or moved with the arrow keys.

export function startDivider(divider, panes, moved) {
  let share = 50
  const set = percent => {
    share = Math.min(80, Math.max(20, percent))
    panes.style.setProperty('--left', `${share}%`)
    divider.setAttribute('aria-valuenow', String(Math.round(share)))
    moved()
  }
  divider.setAttribute('aria-valuemin', '20')
  divider.setAttribute('aria-valuemax', '80')
  divider.addEventListener('pointerdown', event => {
    divider.setPointerCapture(event.pointerId)
    event.preventDefault()
  })
  divider.addEventListener('pointermove', event => {
    if (!divider.hasPointerCapture(event.pointerId)) return
    const { left, width } = panes.getBoundingClientRect()
    set((event.clientX - left) / width * 100)
  })
  divider.addEventListener('keydown', event => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key]
    if (!step) return
    event.preventDefault()
    set(share + step)
  })
  divider.addEventListener('dblclick', () => set(50))
  set(share)
}

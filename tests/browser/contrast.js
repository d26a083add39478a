// Runs in the page: text whose contrast with what is behind it is below AA.
export function lowContrast() {
  const parse = colour => colour.match(/[\d.]+/g).map(Number)
  const luminance = ([r, g, b]) => [r, g, b].map(value => value / 255).map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0)
  const behind = element => {
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor)
      if (a > 0.99) return [r, g, b]
    }
    return [255, 255, 255]
  }
  const bad = []
  const look = scope => {
    for (const element of scope.querySelectorAll('*')) {
      if (element.shadowRoot) look(element.shadowRoot)
      const own = [...element.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())
      if (!own || !element.checkVisibility() || element.closest('button:disabled, script, style, .sr, .cm-gutters')) continue
      const style = getComputedStyle(element)
      if (Number(style.opacity) < 1) continue
      const [light, dark] = [luminance(parse(style.color)), luminance(behind(element))].sort((x, y) => y - x)
      const ratio = (light + 0.05) / (dark + 0.05)
      if (ratio < 4.5) bad.push(`${element.tagName}.${element.className} "${element.textContent.trim().slice(0, 30)}" ${ratio.toFixed(2)}`)
    }
  }
  look(document)
  return bad
}

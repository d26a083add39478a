// Dark or light: the system's choice until a person makes another one.
import { icon } from './dom.js'

const key = 'opspec-theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

function stored() {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

const current = () => document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light')

export function startTheme(button) {
  const show = () => {
    const next = current() === 'dark' ? 'light' : 'dark'
    button.replaceChildren(icon(next === 'dark' ? 'moon' : 'sun'))
    button.title = `Switch to ${next}`
    button.setAttribute('aria-label', button.title)
  }
  const choice = stored()
  if (choice === 'dark' || choice === 'light') document.documentElement.dataset.theme = choice
  dark.addEventListener('change', show)
  const toggle = () => {
    const next = current() === 'dark' ? 'light' : 'dark'
    const system = dark.matches ? 'dark' : 'light'
    try {
      if (next === system) localStorage.removeItem(key)
      else localStorage.setItem(key, next)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    if (next === system) delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    show()
  }
  button.addEventListener('click', toggle)
  show()
  return toggle
}

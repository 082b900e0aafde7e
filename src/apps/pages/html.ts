import { type IconName, iconShapes, type Tone, toneIcons } from '../design.ts'

/** HTML in which all outside text is escaped. Only the template tag `html` creates such a value. */
export class Html {
  readonly text: string
  private constructor(text: string) {
    this.text = text
  }

  /** Template tag: escapes text, keeps HTML, and drops `undefined` and `false`. */
  static readonly tag = (ours: TemplateStringsArray, ...parts: readonly Part[]): Html =>
    new Html(ours.reduce((text, words, at) => `${text}${partText(parts[at - 1])}${words}`))
}

export const html = Html.tag

type Part = Html | string | number | false | undefined | readonly Html[]

function partText(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('\n')
  return String(part).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/**
 * An icon in the colour and size of the text. Screen readers skip it, so it needs a text beside it.
 */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${iconShapes[name]}"
fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/**
 * A status badge. Its tone sets both a colour and an icon, so that it is readable without colour.
 */
export const badge = (text: Part, tone: Tone = 'neutral'): Html =>
  html`<span class="badge" data-tone="${tone}">${icon(toneIcons[tone])}${text}</span>`

/** A highlighted note. */
export const note = (text: Part, tone: Tone): Html =>
  html`<p class="notice" data-tone="${tone}">${icon(toneIcons[tone])}<span>${text}</span></p>`

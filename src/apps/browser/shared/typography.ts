import { h } from './dom.ts'

/** Country calling codes of one and two digits (ITU-T E.164). All others have three. */
const country =
  /^\+(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(?=\d{4,12}\??$)/

/**
 * A phone number in groups of digits, such as `+1 202 555 0123`. The groups are moved apart by style
 * alone, so that a copied number has no spaces. A question mark stays with the last group. Any other
 * text is shown as it is.
 */
export function phoneNumber(text: string): HTMLElement {
  const [code] = country.exec(text) ?? []
  if (code === undefined) return h('bdi', {}, text)
  const groups = text.slice(code.length).match(/\d{3}(?=\d{2})|\d+\??/g) ?? []
  return h(
    'bdi',
    { class: 'phone' },
    [code, ...groups].map((digits) => h('span', {}, digits)),
  )
}

/** A text with its phone numbers in groups of digits. */
export const withPhoneNumbers = (text: string): readonly (Node | string)[] =>
  text
    .split(/(?<![\d+])(\+\d{5,15}\??)(?!\d)/)
    .map((part, at) => (at % 2 ? phoneNumber(part) : part))

const vowels = 'aeiouyäöü'
const consonants = 'sch|ch|ph|th|qu|[bcdfghjklmnpqrstvwxzß]'
/** A consonant and a vowel, after the first three letters and before the last two. */
const syllable = new RegExp(`(?<=\\p{L}{3})(${consonants})(?=[${vowels}]\\p{L}{2})`, 'giu')

/**
 * Adds soft hyphens to words of more than 15 letters, where most European languages begin a syllable.
 * `hyphens: auto` needs the language of the text, and a dictionary that not every browser has.
 */
export const withSoftHyphens = (text: string): string =>
  text.replace(/\p{L}{16,}/gu, (word) => word.replace(syllable, '\u00ad$1'))

/**
 * Adds soft hyphens to the long words of a sentence. Words with digits or signs, such as URLs and ids,
 * get none: a hyphen would look like a part of them.
 */
export const withSoftHyphensInSpeech = (text: string): string =>
  text.replace(/(?<![^\s("“„])\p{L}{16,}(?=[.,;:!?)"”]*(?!\S))/gu, withSoftHyphens)

/** Removes soft hyphens from copied text. */
export function copyWithoutSoftHyphens(): void {
  document.addEventListener('copy', (event) => {
    const text = String(getSelection())
    if (!text.includes('\u00ad')) return
    event.clipboardData?.setData('text/plain', text.replaceAll('\u00ad', ''))
    event.preventDefault()
  })
}

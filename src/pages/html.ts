/** HTML in which every text from outside is escaped. Only the tag below makes it. */
export class Html {
  readonly text: string
  private constructor(text: string) {
    this.text = text
  }

  /** The tag: texts are escaped, HTML stays as it is, `undefined` and `false` leave nothing. */
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

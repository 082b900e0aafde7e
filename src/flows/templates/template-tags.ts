/** A tag as it stands in a template, closed or not; comments and raw text have none. */
export interface TemplateTag {
  readonly kind: 'output' | 'block'
  /** Where it begins, what is in it, where the closing begins, and where the tag ends. */
  readonly start: number
  readonly inner: string
  readonly close: number
  readonly end: number
  /** What closes it: of another kind, only half of it, or nothing, where it is wrong. */
  readonly closing: '}}' | '%}' | '}' | ''
}

export const closingOf = { output: '}}', block: '%}' } as const

/** The tags of a template, as a person means them: one that is not closed ends where the next begins. */
export function templateTags(template: string): TemplateTag[] {
  const tags: TemplateTag[] = []
  const opening = /\{[{%#]/g
  for (let found = opening.exec(template); found; found = opening.exec(template)) {
    const tag = found[0] === '{#' ? undefined : tagAt(template, found.index)
    if (tag) tags.push(tag)
    opening.lastIndex = tag ? endOf(template, tag) : endOfComment(template, found.index)
  }
  return tags
}

const endOfComment = (template: string, start: number): number =>
  indexOrEnd(template, '#}', start + 2) + 2

/** Behind a tag, or behind the raw text that it begins. */
const endOf = (template: string, { kind, inner, end }: TemplateTag): number =>
  kind === 'block' && /^[-+]?\s*raw\s*[-+]?$/.test(inner) ? indexOrEnd(template, '{%', end) : end

function indexOrEnd(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? text.length : at
}

function tagAt(template: string, start: number): TemplateTag {
  const kind = template[start + 1] === '{' ? 'output' : 'block'
  // A text in quotes may hold anything but what ends or begins a tag: else the quotes are wrong.
  const parts = /(?:'[^'\n{}%]*'|"[^"\n{}%]*"|[^{}%]|%(?!\})|\{(?![{%])[^{}%]*\})*/y
  parts.lastIndex = start + 2
  const inner = parts.exec(template)?.[0] ?? ''
  const close = start + 2 + inner.length
  const [closing = ''] = /^(?:\}\}|%\}|\})/.exec(template.slice(close, close + 2)) ?? []
  const end = close + closing.length
  return { kind, start, inner, close, end, closing: closing as TemplateTag['closing'] }
}

/** The line of a place, from 1. */
export function lineAt(template: string, at: number): number {
  let line = 1
  for (let end = template.indexOf('\n'); end >= 0 && end < at; line++)
    end = template.indexOf('\n', end + 1)
  return line
}

/** A template with other inner texts in its tags. */
export function mapTags(
  template: string,
  change: (inner: string, tag: TemplateTag) => string,
): string {
  let result = ''
  let done = 0
  for (const tag of templateTags(template)) {
    result += template.slice(done, tag.start + 2) + change(tag.inner, tag)
    done = tag.close
  }
  return result + template.slice(done)
}

/** Changes what stands outside of quotes. */
export const outsideQuotes = (inner: string, change: (code: string) => string): string =>
  inner
    .split(/('[^'\n]*'|"[^"\n]*")/)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('')

/**
 * Puts a text at the end of what is in a tag, before the space and the sign there. A space in the
 * middle of others is no beginning: else much space would take quadratic time.
 */
export const appendTo = (inner: string, added: string): string =>
  inner.replace(/(?<!\s)\s*[-+]?$/, (end) => `${added}${end}`)

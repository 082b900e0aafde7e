/** A tag of a template, closed or not. Tags in comments and raw blocks do not count. */
export interface TemplateTag {
  readonly kind: 'output' | 'block'
  /** Offset of the opening mark. */
  readonly start: number
  /** Text between the marks. */
  readonly inner: string
  /** Offset of the closing mark. */
  readonly close: number
  /** Offset of the end of the tag. */
  readonly end: number
  /** Closing mark. It may be the mark of the other kind of tag, half a mark, or missing. */
  readonly closing: '}}' | '%}' | '}' | ''
}

export const closingOf = { output: '}}', block: '%}' } as const

/** Finds the tags of a template. An unclosed tag ends where the next one begins. */
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

/** Offset of the end of a tag, or of the raw block that the tag starts. */
const endOf = (template: string, { kind, inner, end }: TemplateTag): number =>
  kind === 'block' && /^[-+]?\s*raw\s*[-+]?$/.test(inner) ? indexOrEnd(template, '{%', end) : end

function indexOrEnd(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? text.length : at
}

function tagAt(template: string, start: number): TemplateTag {
  const kind = template[start + 1] === '{' ? 'output' : 'block'
  // Quotes enclose a string only if there is no tag delimiter between them.
  const parts = /(?:'[^'\n{}%]*'|"[^"\n{}%]*"|[^{}%]|%(?!\})|\{(?![{%])[^{}%]*\})*/y
  parts.lastIndex = start + 2
  const inner = parts.exec(template)?.[0] ?? ''
  const close = start + 2 + inner.length
  const [closing = ''] = /^(?:\}\}|%\}|\})/.exec(template.slice(close, close + 2)) ?? []
  const end = close + closing.length
  return { kind, start, inner, close, end, closing: closing as TemplateTag['closing'] }
}

/** 1-based line of an offset. */
export function lineAt(template: string, at: number): number {
  let line = 1
  for (let end = template.indexOf('\n'); end >= 0 && end < at; line++)
    end = template.indexOf('\n', end + 1)
  return line
}

/** Replaces the inner text of each tag of a template. */
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

import { closestItems } from '../../text/closest-match.ts'
import {
  appendTo,
  closingOf,
  lineAt,
  mapTags,
  outsideQuotes,
  type TemplateTag,
  templateTags,
} from './template-tags.ts'

/** What is wrong with a template, as the engine says it. */
export interface TemplateProblem {
  readonly type: string
  readonly message: string
  readonly line: number | null
}

/** A changed template, and what was changed in it. */
export interface Repair {
  readonly template: string
  readonly change: string
}

/** Finds the one obvious repair of a kind of mistake; `undefined` where there is none. */
export type RepairRule = (template: string, problem: TemplateProblem) => Repair | undefined

const repair = (template: string, changed: string, change: string): Repair | undefined =>
  changed === template ? undefined : { template: changed, change }

/** A variable with its filters, as it may stand at the beginning of a tag that is not closed. */
const pathWithFilters =
  /^[-+]?\s*[A-Za-z_][\w.]*(?:\s*\|\s*\w+(?:\((?:[^()'"\n]|'[^'\n]*'|"[^"\n]*")*\))?)*/
/** Most tags whose lines are named. */
const mostLines = 10
const wordAlone = /^[-+]?\s*(?:else|end[a-z]+)\b/

/** `{{ name`, `{{ name }`, `{{ name %}`, `{% else`: closes what is not closed, or not rightly. */
const closeTags: RepairRule = (template) => {
  const wrong = templateTags(template).filter(({ kind, closing }) => closing !== closingOf[kind])
  let changed = ''
  let done = 0
  for (const tag of wrong) {
    const isOpen = tag.closing === ''
    const from = isOpen ? openEnd(tag) : tag.close
    if (from === undefined) return undefined
    changed += `${template.slice(done, from)}${isOpen ? ' ' : ''}${closingOf[tag.kind]}`
    done = isOpen ? from : tag.end
  }
  const lines = new Set(wrong.slice(0, mostLines).map(({ start }) => lineAt(template, start)))
  const more = wrong.length > mostLines ? ' and further' : ''
  return repair(
    template,
    changed + template.slice(done),
    `closed the tag on line ${[...lines].join(', ')}${more}`,
  )
}

/** Where a tag that nothing closes was meant to end. */
function openEnd({ kind, start, inner }: TemplateTag): number | undefined {
  const meant = (kind === 'output' ? pathWithFilters : wordAlone).exec(inner)
  const length = meant?.[0].length ?? (kind === 'block' ? inner.indexOf('\n') : -1)
  return length < 0 ? undefined : start + 2 + length
}

/** Quotes that a word processor or HTML has changed. */
const plainQuotes: RepairRule = (template) => {
  const changed = mapTags(template, (inner) =>
    outsideQuotes(inner, (code) =>
      code.replaceAll(/[“”„«»]|&quot;/g, '"').replaceAll(/[‘’‚]|&#0?39;|&apos;/g, "'"),
    ),
  )
  return repair(template, changed, 'wrote straight quotes')
}

/** `default('there)`, `default('there")`: closes a text in quotes. */
const closeQuotes: RepairRule = (template) => {
  const changed = mapTags(template, (inner) => {
    const rest = outsideQuotes(inner, (code) => code).match(/^(?:'[^'\n]*'|"[^"\n]*"|[^'"])*/)?.[0]
    const at = rest?.length ?? inner.length
    const mark = inner[at]
    if (mark === undefined) return inner
    const text = inner.slice(at + 1)
    const other = text.indexOf(mark === "'" ? '"' : "'")
    if (other >= 0)
      return `${inner.slice(0, at + 1)}${text.slice(0, other)}${mark}${text.slice(other + 1)}`
    const bracket = text.indexOf(')')
    if (bracket < 0) return appendTo(inner, mark)
    return `${inner.slice(0, at + 1)}${text.slice(0, bracket)}${mark}${text.slice(bracket)}`
  })
  return repair(template, changed, 'closed the quotes')
}

/** `default('there'`: closes brackets at the end of their tag. */
const closeBrackets: RepairRule = (template) => {
  const changed = mapTags(template, (inner) => {
    let code = ''
    outsideQuotes(inner, (part) => {
      code += part
      return part
    })
    const missing = code.split('(').length - code.split(')').length
    if (missing > 0 && missing <= 3) return appendTo(inner, ')'.repeat(missing))
    return missing === -1 ? inner.replace(/\)(\s*[-+]?)$/, '$1') : inner
  })
  return repair(template, changed, 'balanced the brackets')
}

/** Operators of other languages, and `=` where a condition compares. */
const jinjaOperators: RepairRule = (template) => {
  const changed = mapTags(template, (inner, { kind }) => {
    const isCondition = kind === 'block' && /^[-+]?\s*(?:el)?if\b/.test(inner)
    return outsideQuotes(inner, (code) => {
      const plain = code
        .replaceAll(/(?<!\s)\s*&&\s*/g, ' and ')
        .replaceAll(/(?<!\s)\s*\|\|\s*/g, ' or ')
        .replaceAll(/([=!])==/g, '$1=')
        .replaceAll(/!(?=[A-Za-z_(])/g, 'not ')
      return isCondition && !code.includes('(')
        ? plain.replaceAll(/(?<![=!<>])=(?!=)/g, '==')
        : plain
    })
  })
  return repair(template, changed, 'wrote operators as Jinja has them')
}

const tagNames = [
  'if',
  'elif',
  'else',
  'endif',
  'for',
  'endfor',
  'set',
  'endset',
  'with',
  'endwith',
]
  .concat(['macro', 'endmacro', 'call', 'endcall', 'filter', 'endfilter', 'block', 'endblock'])
  .map((id) => ({ id, names: [] }))

/** `else if`, `elseif`, `end if`: two spellings that other languages have. */
const tagSpelling: RepairRule = (template) => {
  const changed = mapTags(template, (inner, { kind }) =>
    kind === 'output'
      ? inner
      : inner
          .replace(/^([-+]?\s*)(?:else\s*if|elsif)\b/, '$1elif')
          .replace(/^([-+]?\s*)end[\s_-]+([a-z]+)(?=\s*[-+]?$)/, '$1end$2'),
  )
  return repair(template, changed, 'corrected elif or end tags')
}

/** Those of the same letters, which changed their places, or those that are close. */
function tagsMeant(name: string) {
  const letters = (word: string) => [...word].sort().join('')
  const same = tagNames.filter(({ id }) => letters(id) === letters(name))
  return same.length > 0 ? same : closestItems(name, tagNames)
}

/** A tag that does not exist: the one that it is close to, or the end of the innermost block. */
const tagName: RepairRule = (template, { message, line }) => {
  const name = /^Encountered unknown tag '([^']+)'/.exec(message)?.[1]
  if (name === undefined) return undefined
  const innermost = /needs to be closed is '(\w+)'/.exec(message)?.[1]
  const isEnd = ['end', 'fi', 'endfi', 'done'].includes(name)
  const [meant, another] = isEnd ? [] : tagsMeant(name)
  const correct = isEnd ? innermost && `end${innermost}` : !another && meant?.id
  if (!correct) return undefined
  let isFirst = true
  const changed = mapTags(template, (inner, { kind, start }) => {
    const [space = '', found] = /^([-+]?\s*)(\w+)/.exec(inner)?.slice(1) ?? []
    if (kind === 'output' || found !== name || !isFirst || lineAt(template, start) !== line)
      return inner
    isFirst = false
    return `${space}${correct}${inner.slice(space.length + name.length)}`
  })
  return repair(template, changed, `${name} → ${correct}`)
}

/** Filters of other languages, which are not close to their name in Jinja. */
const filterNames: Readonly<Record<string, string>> = {
  ...{ uppercase: 'upper', upcase: 'upper', toupper: 'upper', lowercase: 'lower' },
  ...{ downcase: 'lower', tolower: 'lower', titlecase: 'title', strip: 'trim', size: 'length' },
}

/** A filter or test that does not exist. */
const filterOrTest: RepairRule = (template, { message }) => {
  const [, kind, name = '', near] =
    /^No (filter|test) named '(\w+)'.*?(?:Did you mean '(\w+)'\?)?$/.exec(message) ?? []
  const correct = (kind === 'filter' ? filterNames[name] : undefined) ?? near
  if (correct === undefined) return undefined
  const use = new RegExp(
    kind === 'filter' ? `(\\|\\s*)${name}\\b` : `(\\bis\\s+(?:not\\s+)?)${name}\\b`,
    'g',
  )
  const changed = mapTags(template, (inner) =>
    outsideQuotes(inner, (code) => code.replaceAll(use, `$1${correct}`)),
  )
  return repair(template, changed, `${name} → ${correct}`)
}

/** A block without an end gets one at the end of the template. */
const closeBlock: RepairRule = (template, { message }) => {
  if (!message.startsWith('Unexpected end of template')) return undefined
  const name = /needs to be closed is '(\w+)'/.exec(message)?.[1]
  if (name === undefined) return undefined
  const text = template.trimEnd()
  const changed = `${text}{% end${name} %}${template.slice(text.length)}`
  return repair(template, changed, `closed ${name} at the end of the template: check the place`)
}

/** In the order in which they are tried. */
export const repairRules: readonly RepairRule[] = [
  ...[plainQuotes, closeTags, closeQuotes, closeBrackets, jinjaOperators, tagSpelling],
  ...[tagName, filterOrTest, closeBlock],
]

/** `{name}` and `{ name }}` are valid, and spoken with their braces. */
const singleBraces = /(?<!\{)\{\s*([A-Za-z_][\w.]*)(\s*\|[^{}\n]*|\s*)\}\}?(?!\})/g

/** Variables in single braces: those outside of tags, by their place. */
export function variablesInSingleBraces(template: string): { at: number; found: string }[] {
  // Raw text is spoken as it stands on purpose.
  if (/\{%[-+]?\s*raw\b/.test(template)) return []
  const comments = [...template.matchAll(/\{#[\s\S]*?(?:#\}|$)/g)].map(
    ({ 0: text, index: start }) => ({
      start,
      end: start + text.length,
    }),
  )
  const code = [...templateTags(template), ...comments]
  return [...template.matchAll(singleBraces)].flatMap(({ 0: found, index: at }) =>
    code.some(({ start, end }) => at >= start && at < end) ? [] : [{ at, found }],
  )
}

/** The same with two braces. */
export function withDoubleBraces(template: string): string {
  return variablesInSingleBraces(template)
    .toReversed()
    .reduce((text, { at, found }) => {
      const variable = `{{ ${found.replaceAll(/^\{\s*|\s*\}+$/g, '')} }}`
      return `${text.slice(0, at)}${variable}${text.slice(at + found.length)}`
    }, template)
}

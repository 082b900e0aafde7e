import { analyse } from '../../src/jinja/index.ts'
import { closestItems } from '../../src/text/closest-match.ts'
import { closingOf, lineAt, mapTags, type TemplateTag, templateTags } from './template-tags.ts'

/** An error of the template engine. */
interface TemplateProblem {
  readonly type: string
  readonly message: string
  readonly line: number | null
}

/** Mistakes that this tool found in a template, and a complete repair. */
export interface TemplateFindings {
  readonly problems: readonly TemplateProblem[]
  /**
   * The complete repaired text; absent if nothing is wrong, or if a mistake has no obvious repair.
   */
  readonly repaired?: string
  /** Descriptions of the changes. */
  readonly changes: readonly string[]
}

/** Maximum length of a template to repair, characters. Each attempt parses the whole template. */
const longest = 10_000
const maxProblems = 20
/** Time limit for finding and repairing, ms. Templates are untrusted, and other requests wait. */
const maxMs = 200
const limits = { maxSteps: 200_000, maxLength: longest }

/**
 * Finds the mistakes of a template one by one. Jinja stops at the first mistake, so each is
 * repaired before the search for the next. A repair counts only if the engine gets further with it.
 */
export function repairTemplate(template: string): TemplateFindings {
  const problems: TemplateProblem[] = []
  const changes: string[] = []
  const end = performance.now() + maxMs
  let text = template
  let isRepaired = true
  for (let problem = problemOf(text); problem; problem = problemOf(text)) {
    problems.push(problem)
    const isLate = performance.now() > end
    if (isLate || template.length > longest || problems.length >= maxProblems) {
      isRepaired = false
      break
    }
    const better = betterTemplate(text, problem)
    if (better) changes.push(better.change)
    else isRepaired = false
    const next = better?.template ?? withoutOutputOn(text, problem)
    if (next === undefined) break
    text = next
  }
  return withBraces({ problems, changes, ...(isRepaired && { repaired: text }) }, template)
}

function problemOf(text: string): TemplateProblem | undefined {
  const { errors, warnings } = analyse(text, limits)
  return errors[0] ?? warnings[0]
}

/** The first repair that lets the engine get further. */
function betterTemplate(text: string, problem: TemplateProblem) {
  for (const rule of repairRules) {
    const found = rule(text, problem)
    const left = found && problemOf(found.template)
    if (found && (!left || isFurther(left, problem))) return found
  }
  return undefined
}

/** The engine looks up filters and tests only after it has parsed the whole template. */
const isLookup = ({ type }: TemplateProblem) => type === 'unknown_filter' || type === 'unknown_test'

function isFurther(left: TemplateProblem, before: TemplateProblem): boolean {
  if (isLookup(left) !== isLookup(before)) return isLookup(left)
  const [line, lineBefore] = [left.line ?? 0, before.line ?? 0]
  return line > lineBefore || (line === lineBefore && left.message !== before.message)
}

/** Removes the output that has this problem, so that the engine can find further problems. */
function withoutOutputOn(text: string, { line }: TemplateProblem): string | undefined {
  const there = templateTags(text).filter(
    ({ kind, start, closing }) =>
      kind === 'output' && closing === '}}' && lineAt(text, start) === line,
  )
  const [only] = there
  if (!only || there.length > 1 || only.inner === "''") return undefined
  return mapTags(text, (inner, { start }) => (start === only.start ? "''" : inner))
}

/** Adds findings about single braces: they are valid Jinja, so the engine does not report them. */
function withBraces(findings: TemplateFindings, template: string): TemplateFindings {
  const inBraces = template.length > longest ? [] : variablesInSingleBraces(template)
  const problems = inBraces.slice(0, maxProblems).map(({ at, found }) => ({
    type: 'single_braces',
    message: `${found} is spoken as it stands; a variable has two braces on each side`,
    line: lineAt(template, at),
  }))
  const { repaired, changes } = findings
  const changed = repaired === undefined ? undefined : withDoubleBraces(repaired)
  return {
    problems: [...findings.problems, ...problems],
    changes: problems.length > 0 ? [...changes, 'doubled single braces'] : changes,
    ...(changed !== undefined && changed !== template && { repaired: changed }),
  }
}

/** A repaired template, and what was changed. */
interface Repair {
  readonly template: string
  readonly change: string
}

/** Repairs one kind of mistake; `undefined`: not this mistake, or several repairs are possible. */
type RepairRule = (template: string, problem: TemplateProblem) => Repair | undefined

const repair = (template: string, changed: string, change: string): Repair | undefined =>
  changed === template ? undefined : { template: changed, change }

/** A variable with its filters, at the start of an unclosed tag. */
const pathWithFilters =
  /^[-+]?\s*[A-Za-z_][\w.]*(?:\s*\|\s*\w+(?:\((?:[^()'"\n]|'[^'\n]*'|"[^"\n]*")*\))?)*/
/** Maximum number of tags whose line is named. */
const maxLines = 10
const wordAlone = /^[-+]?\s*(?:else|end[a-z]+)\b/

/**
 * Closes tags that are unclosed or wrongly closed: `{{ name`, `{{ name }`, `{{ name %}`, `{% else`.
 */
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
  const lines = new Set(wrong.slice(0, maxLines).map(({ start }) => lineAt(template, start)))
  const more = wrong.length > maxLines ? ' and further' : ''
  return repair(
    template,
    changed + template.slice(done),
    `closed the tag on line ${[...lines].join(', ')}${more}`,
  )
}

/** Offset where an unclosed tag was meant to end; `undefined`: not clear. */
function openEnd({ kind, start, inner }: TemplateTag): number | undefined {
  const meant = (kind === 'output' ? pathWithFilters : wordAlone).exec(inner)
  const length = meant?.[0].length ?? (kind === 'block' ? inner.indexOf('\n') : -1)
  return length < 0 ? undefined : start + 2 + length
}

/** Replaces typographic and HTML-escaped quotes with straight ones. */
const plainQuotes: RepairRule = (template) => {
  const changed = mapTags(template, (inner) =>
    outsideQuotes(inner, (code) =>
      code.replaceAll(/[“”„«»]|&quot;/g, '"').replaceAll(/[‘’‚]|&#0?39;|&apos;/g, "'"),
    ),
  )
  return repair(template, changed, 'wrote straight quotes')
}

/**
 * Closes a string, or replaces a closing quote of the wrong kind: `default('there)`,
 * `default('there")`.
 */
const closeQuotes: RepairRule = (template) => {
  const changed = mapTags(template, (inner) => {
    const rest = inner.match(/^(?:'[^'\n]*'|"[^"\n]*"|[^'"])*/)?.[0]
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

/**
 * Closes up to three brackets at the end of their tag: `default('there'`. Also removes one surplus
 * closing bracket there.
 */
const closeBrackets: RepairRule = (template) => {
  const changed = mapTags(template, (inner) => {
    const code = inner.replaceAll(quotedText, '')
    const missing = code.split('(').length - code.split(')').length
    if (missing > 0 && missing <= 3) return appendTo(inner, ')'.repeat(missing))
    return missing === -1 ? inner.replace(/\)(\s*[-+]?)$/, '$1') : inner
  })
  return repair(template, changed, 'balanced the brackets')
}

/** Replaces operators of other languages, and `=` in a condition. */
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

const blocks = ['if', 'for', 'set', 'with', 'macro', 'call', 'filter', 'block']
const tagNames = blocks
  .flatMap((name) => [name, `end${name}`])
  .concat(['elif', 'else'])
  .map((id) => ({ id, names: [] }))

/** Replaces block tags of other languages: `else if`, `elseif`, `end if`. */
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

/** Tags with the same letters in another order; if there are none, tags with a similar name. */
function tagsMeant(name: string) {
  const letters = (word: string) => [...word].sort().join('')
  const same = tagNames.filter(({ id }) => letters(id) === letters(name))
  return same.length > 0 ? same : closestItems(name, tagNames)
}

/** Replaces an unknown tag with the closest one, or with the end tag of the innermost block. */
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

/** Filters of other languages whose names do not resemble their Jinja counterparts. */
const filterNames = new Map([
  ['uppercase', 'upper'],
  ['upcase', 'upper'],
  ['toupper', 'upper'],
  ['lowercase', 'lower'],
  ['downcase', 'lower'],
  ['tolower', 'lower'],
  ['titlecase', 'title'],
  ['strip', 'trim'],
  ['size', 'length'],
])

/** Replaces an unknown filter or test. */
const filterOrTest: RepairRule = (template, { message }) => {
  const [, kind, name = '', near] =
    /^No (filter|test) named '(\w+)'.*?(?:Did you mean '(\w+)'\?)?$/.exec(message) ?? []
  const correct = (kind === 'filter' ? filterNames.get(name) : undefined) ?? near
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

/** Closes an unclosed block at the end of the template. */
const closeBlock: RepairRule = (template, { message }) => {
  if (!message.startsWith('Unexpected end of template')) return undefined
  const name = /needs to be closed is '(\w+)'/.exec(message)?.[1]
  if (name === undefined) return undefined
  const text = template.trimEnd()
  const changed = `${text}{% end${name} %}${template.slice(text.length)}`
  return repair(template, changed, `closed ${name} at the end of the template: check the place`)
}

/** All rules, in the order in which they are tried. */
const repairRules: readonly RepairRule[] = [
  ...[plainQuotes, closeTags, closeQuotes, closeBrackets, jinjaOperators, tagSpelling],
  ...[tagName, filterOrTest, closeBlock],
]

/**
 * Matches `{name}` and `{ name }}`. Jinja accepts both as text, so they are spoken with their
 * braces.
 */
const singleBraces = /(?<!\{)\{\s*([A-Za-z_][\w.]*)(\s*\|[^{}\n]*|\s*)\}\}?(?!\})/g

/** Finds variables in single braces outside of tags, with their offsets. */
function variablesInSingleBraces(template: string): { at: number; found: string }[] {
  // Braces in a raw block are intentional.
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

/** Puts variables in single braces into double ones. */
function withDoubleBraces(template: string): string {
  return variablesInSingleBraces(template)
    .toReversed()
    .reduce((text, { at, found }) => {
      const variable = `{{ ${found.replaceAll(/^\{\s*|\s*\}+$/g, '')} }}`
      return `${text.slice(0, at)}${variable}${text.slice(at + found.length)}`
    }, template)
}

/** A string in quotes on one line. */
const quotedText = /('[^'\n]*'|"[^"\n]*")/g

/** Changes the parts of a tag that are not in quotes. */
const outsideQuotes = (inner: string, change: (code: string) => string): string =>
  inner
    .split(quotedText)
    .map((part, i) => (i % 2 === 0 ? change(part) : part))
    .join('')

/**
 * Appends a text to the inner text of a tag, before trailing whitespace and a trailing sign (`-` or
 * `+`). The pattern starts only at the first space of a run, because it would otherwise take
 * quadratic time.
 */
const appendTo = (inner: string, added: string): string =>
  inner.replace(/(?<!\s)\s*[-+]?$/, (end) => `${added}${end}`)

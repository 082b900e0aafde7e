import { analyse } from '../../src/jinja/index.ts'
import {
  repairRules,
  type TemplateProblem,
  variablesInSingleBraces,
  withDoubleBraces,
} from './repair-rules.ts'
import { lineAt, mapTags, templateTags } from './template-tags.ts'

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

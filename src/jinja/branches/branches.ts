import { type AnalyseOptions, compileSource } from '../analysis/analyse.ts'
import { TemplateError } from '../error.ts'
import { filters } from '../filters/index.ts'
import { MAX_OUTPUT_LENGTH, MAX_STEPS } from '../limits.ts'
import { Gaps, RenderRuntime } from '../python/runtime.ts'
import { renderCompiled } from '../render/render.ts'
import { tests } from '../render/tests.ts'
import {
  type CaseOptions,
  type CaseValue,
  type Dimension,
  dimensionsOf,
  maxVariables,
  withCase,
} from './cases.ts'
import { decisionsOf } from './decisions.ts'

type BranchOptions = CaseOptions & {
  /** Steps that all renderings together may take. */
  readonly maxSteps?: number
  /** Longest output. */
  readonly maxLength?: number
  readonly analysis?: AnalyseOptions
}

/** One text that a template renders to, or its failure, with the values that lead to it. */
export interface Outcome {
  /**
   * Sets of values that lead to this outcome. A variable that a set does not name makes no
   * difference.
   */
  readonly ways: readonly Way[]
  /** True if there are more such sets than `ways` lists. */
  readonly hasMoreWays: boolean
  /** The text, or the error, for the first of the `ways`. */
  readonly rendered: { readonly text: string } | { readonly error: TemplateError }
  /** Variables that are printed although they are missing or empty. */
  readonly gaps: readonly string[]
}

/** By dotted path of a variable, its alternative values. The text is that of the first ones. */
type Way = ReadonlyMap<string, readonly CaseValue[]>

interface Branches {
  /** Dotted paths of the variables that have a value in some case. */
  readonly variables: readonly string[]
  /**
   * Texts without gaps first, in the order of the values. Each failure and each combination of gaps
   * occurs once.
   */
  readonly outcomes: readonly Outcome[]
  /** Lines of `if` branches and of loops that no case reached. */
  readonly unreached: readonly number[]
  /** True if not all combinations of the values were tried. */
  readonly isPartial: boolean
}

/** Bounds of the combinations tried, and of the ways that an outcome has. */
const maxCases = 400
const maxWays = 3

/** Ways out of one decision that are told apart. */
const maxTaken = 1024

/**
 * Renders a template for each of its branches. The values come from its own conditions: the
 * constants that a variable is compared with, an empty text or list, and no value. `given` has the
 * values of variables for which none of these are tried. A variable without a value gets a sample:
 * a number, or its path in brackets.
 *
 * Throws TemplateError for a template that cannot be compiled.
 */
export function branchesOf(
  source: string,
  given: Readonly<Record<string, unknown>>,
  options: BranchOptions = {},
): Branches {
  const compiled = compileSource(source, options.analysis)
  if (compiled.report.error !== null) throw compiled.report.error
  const { variables, branches } = decisionsOf(compiled)
  const dimensions = dimensionsOf(variables, given, options)
  const { maxSteps = MAX_STEPS, maxLength = MAX_OUTPUT_LENGTH } = options
  const ids = new Map<object, number>()
  const idOf = (decision: object, taken: number) => {
    const id = ids.get(decision) ?? ids.size
    ids.set(decision, id)
    return id * maxTaken + Math.min(taken, maxTaken - 1)
  }
  let stepsLeft = maxSteps
  const tried = (choices: Choices): Case => {
    const gaps: string[] = []
    const taken = new Set<number>()
    const notes = {
      gaps: new Gaps((path) => gaps.push(path)),
      onBranch: (decision: object, way: number) => taken.add(idOf(decision, way)),
    }
    const budget = { maxSteps: stepsLeft, maxLength }
    const runtime = new RenderRuntime(budget, filters, tests, notes)
    try {
      const text = renderCompiled(compiled, withCase(given, dimensions, choices), runtime)
      return { choices, gaps, taken, rendered: { text } }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      return { choices, gaps, taken, rendered: { error } }
    } finally {
      stepsLeft -= runtime.spent
    }
  }
  const cases: Case[] = []
  let isPartial = variables.size > maxVariables
  for (const choices of combinationsOf(dimensions.map((one) => one.choices.length))) {
    if (cases.length >= maxCases || stepsLeft <= 0) {
      isPartial = true
      break
    }
    const one = tried(choices)
    if (isLimit(one)) isPartial = true
    else cases.push(one)
  }
  const reached = new Set(cases.flatMap(({ taken }) => [...taken]))
  const unreached = branches.filter((branch) => !reached.has(idOf(branch.decision, branch.taken)))
  return {
    variables: dimensions.flatMap(({ paths, choices }) =>
      paths.filter((_, at) => choices.some((choice) => choice[at] !== 'absent')),
    ),
    outcomes: outcomesOf(cases, dimensions),
    unreached: [...new Set(unreached.map(({ line }) => line))].sort((a, b) => a - b),
    isPartial,
  }
}

/** Which choice of each dimension. */
type Choices = readonly number[]

interface Case extends Pick<Outcome, 'gaps' | 'rendered'> {
  readonly choices: Choices
  /** The branches taken. */
  readonly taken: ReadonlySet<number>
}

const isLimit = ({ rendered }: Case) =>
  'error' in rendered && rendered.error.type === 'limit_exceeded'

/** All combinations of choices; those that differ least from the first choices come first. */
function* combinationsOf(sizes: readonly number[]): Generator<Choices> {
  for (let different = 0; different <= sizes.length; different++) {
    yield* combinationsWith(different, sizes)
  }
}

function* combinationsWith(different: number, sizes: readonly number[]): Generator<Choices> {
  const [size, ...others] = sizes
  if (size === undefined) {
    if (different === 0) yield []
    return
  }
  if (different <= others.length) {
    for (const rest of combinationsWith(different, others)) yield [0, ...rest]
  }
  if (different === 0) return
  for (let choice = 1; choice < size; choice++) {
    for (const rest of combinationsWith(different - 1, others)) yield [choice, ...rest]
  }
}

/** One outcome for all cases with the same branches, failure or gaps. */
function outcomesOf(cases: readonly Case[], dimensions: readonly Dimension[]): Outcome[] {
  const inOrder = cases.toSorted((a, b) => compareChoices(a.choices, b.choices))
  const isClean = ({ gaps, rendered }: Case) => gaps.length === 0 && 'text' in rendered
  const kinds = [
    ...firstOf(inOrder.filter(isClean), ({ taken }) => [...taken].sort((a, b) => a - b).join()),
    ...firstOf(
      inOrder.filter((one) => !isClean(one)),
      ({ gaps, rendered }) => ('error' in rendered ? rendered.error.message : gaps.join()),
    ),
  ]
  const texts = firstOf(kinds, textOf)
  return texts.map((first) => {
    const same = inOrder.filter((one) => textOf(one) === textOf(first))
    const { gaps, rendered } = first
    return { ...waysOf(same, dimensions), gaps, rendered }
  })
}

/** The first case of each kind. */
function firstOf(cases: readonly Case[], kindOf: (one: Case) => string): Case[] {
  return [...Map.groupBy(cases, kindOf).values()].flatMap(([first]) => first ?? [])
}

const textOf = ({ rendered }: Case) =>
  'text' in rendered ? `text ${rendered.text}` : `error ${rendered.error.message}`

const compareChoices = (a: Choices, b: Choices): number => {
  const at = a.findIndex((choice, i) => choice !== b[i])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

/**
 * Puts cases together that differ in one variable only: `a` or `b`, and any value of another. Each
 * way stands for cases that were tried, all of them.
 */
function waysOf(
  cases: readonly Case[],
  dimensions: readonly Dimension[],
): Pick<Outcome, 'ways' | 'hasMoreWays'> {
  const all = new Set(cases.map(({ choices }) => choices.join()))
  const left = new Map(cases.map(({ choices }) => [choices.join(), choices]))
  const ways: Way[] = []
  while (left.size > 0 && ways.length < maxWays) {
    const [first = []] = left.values()
    let box: number[][] = first.map((choice) => [choice])
    for (const [at, { choices }] of dimensions.entries()) {
      for (const choice of choices.keys()) {
        if (box[at]?.includes(choice) || !areAllIn(all, box.with(at, [choice]))) continue
        box = box.with(at, [...(box[at] ?? []), choice])
      }
    }
    for (const one of combined(box)) left.delete(one.join())
    ways.push(wayOf(box, dimensions))
  }
  return { ways, hasMoreWays: left.size > 0 }
}

const areAllIn = (
  all: ReadonlySet<string>,
  box: readonly (readonly number[])[],
  start: Choices = [],
): boolean => {
  const choices = box[start.length]
  return choices === undefined
    ? all.has(start.join())
    : choices.every((choice) => areAllIn(all, box, [...start, choice]))
}

const combined = (box: readonly (readonly number[])[]): number[][] =>
  box.reduce<number[][]>(
    (all, choices) => all.flatMap((start) => choices.map((choice) => [...start, choice])),
    [[]],
  )

/**
 * The way for all cases in `box`, without the variables that have every choice there: their value
 * makes no difference.
 */
const wayOf = (box: readonly (readonly number[])[], dimensions: readonly Dimension[]): Way =>
  new Map(
    dimensions.flatMap(({ paths, choices }, at) => {
      const taken = box[at] ?? []
      if (taken.length === choices.length && choices.length > 1) return []
      return paths.map(
        (path, i) => [path, taken.flatMap((choice) => choices[choice]?.[i] ?? [])] as const,
      )
    }),
  )

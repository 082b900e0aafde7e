import type { Constant, ReadVariable } from './decisions.ts'

/** The value of a variable in one case, or `absent` if the caller passes none. */
export type CaseValue = { readonly value: unknown } | 'absent'

/** Variables that are varied together. */
export interface Dimension {
  /** Dotted paths. */
  readonly paths: readonly string[]
  /**
   * The first one is used while other dimensions are varied: the given value, or an assumed one.
   */
  readonly choices: readonly Choice[]
}

/** One value for each path of a dimension. */
export type Choice = readonly CaseValue[]

export interface CaseOptions {
  /** True if a call may lack this variable. Default: every variable may be absent. */
  readonly isOptional?: (path: string) => boolean
  /** Values to try besides those that the template names. */
  readonly alsoTried?: Readonly<Record<string, readonly unknown[]>>
}

type Values = Readonly<Record<string, unknown>>

/** Maximum number of varied variables: the first ones of the template. */
export const maxVariables = 40

/** Sample text for a variable without a given value. */
const placeholder = (path: string): string => `[${path}]`

/**
 * Returns the dimensions to vary: one for each variable on which a decision depends, and one for
 * all variables that are only printed. The values tried are numbers at the bounds of comparisons,
 * the constants that a variable is compared with, an empty value, and none.
 */
export function dimensionsOf(
  variables: ReadonlyMap<string, ReadVariable>,
  given: Values,
  { isOptional = () => true, alsoTried = {} }: CaseOptions,
): Dimension[] {
  const all = [...variables].slice(0, maxVariables)
  const isAbove = ([path]: (typeof all)[number]) =>
    all.some(([other]) => other.startsWith(`${path}.`))
  const deciding = all.filter(([, variable]) => variable.isDeciding)
  const printed = all.filter((one) => !one[1].isDeciding && !isAbove(one))
  return [
    ...deciding.map(([path, variable]) => ({
      paths: [path],
      choices: choicesOf(path, variable, {
        given: valueAt(given, variable.path),
        hasParts: isAbove([path, variable]),
        isOptional: isOptional(path),
        others: alsoTried[path] ?? [],
      }),
    })),
    ...dimensionOfPrinted(printed, given, isOptional),
  ].filter(({ choices }) => choices.length > 0)
}

interface Circumstances {
  /** The given value; `undefined` if none is given. */
  readonly given: unknown
  /** True if parts of the variable are read too; they vary on their own. */
  readonly hasParts: boolean
  readonly isOptional: boolean
  readonly others: readonly unknown[]
}

function choicesOf(
  path: string,
  variable: ReadVariable,
  { given, hasParts, isOptional, others }: Circumstances,
): Choice[] {
  const missing: CaseValue[] = isOptional ? ['absent'] : []
  if (hasParts) return [{ value: given ?? {} }, ...missing].map((one) => [one])
  if (variable.isList && given === undefined) return missing.map((one) => [one])
  const usual = given === undefined ? sampleOf(path, variable) : given
  const empty: CaseValue[] = isOptional ? [{ value: Array.isArray(usual) ? [] : '' }] : []
  const tried = [usual, ...variable.constants, ...others].map((value) => ({ value }))
  return unique([...tried, ...missing, ...empty]).map((one) => [one])
}

/** A value that differs from all constants that the variable is compared with. */
function sampleOf(path: string, { constants, isNumber }: ReadVariable): Constant {
  const values = [...constants]
  const numbers = values.filter((value) => typeof value === 'number')
  if (isNumber) return Math.max(1, ...numbers) + 1
  return values.length > 0 && values.every((value) => typeof value === 'boolean')
    ? true
    : placeholder(path)
}

function unique(choices: readonly CaseValue[]): CaseValue[] {
  return [...new Map(choices.map((choice) => [JSON.stringify(choice), choice])).values()]
}

/** Dimension of all variables that are only printed: given or assumed values, absent, and empty. */
function dimensionOfPrinted(
  printed: readonly (readonly [string, ReadVariable])[],
  given: Values,
  isOptional: (path: string) => boolean,
): Dimension[] {
  const paths = printed.map(([path]) => path)
  if (paths.length === 0) return []
  const usual = printed.map(([path, variable]) => {
    const value = valueAt(given, variable.path)
    return { value: value === undefined ? sampleOf(path, variable) : value }
  })
  const without = (missing: CaseValue) =>
    printed.map(([path], at) => (isOptional(path) ? missing : (usual[at] ?? missing)))
  const choices: Choice[] = [usual, without('absent'), without({ value: '' })]
  return [{ paths, choices: paths.some(isOptional) ? choices : [usual] }]
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? Object.entries(inner).find(([key]) => key === name)?.[1]
        : undefined,
    values,
  )
}

/** A copy of the given values with those of a case at their paths. */
export function withCase(
  given: Values,
  dimensions: readonly Dimension[],
  choices: readonly number[],
): Values {
  const places = dimensions
    .flatMap(({ paths, choices: all }, at) =>
      paths.map((path, i) => ({ path, to: all[choices[at] ?? 0]?.[i] ?? 'absent' })),
    )
    .sort((a, b) => a.path.length - b.path.length)
  // A variable is set before its parts: `user` before `user.name`. Absent variables are removed
  // last, together with their parts.
  const present = places.filter((place) => place.to !== 'absent')
  const absent = places.filter((place) => place.to === 'absent')
  const kept = new Set(present.map(({ path }) => path))
  const all = present.reduce<Values>(
    (values, { path, to }) => (to === 'absent' ? values : withValue(values, path.split('.'), to)),
    given,
  )
  return absent.reduce<Values>((values, { path }) => without(values, path.split('.'), kept), all)
}

/** A copy with the value at one path set. */
function withValue(
  values: Values,
  [name = '', ...rest]: readonly string[],
  to: { readonly value: unknown },
): Values {
  if (rest.length === 0) return { ...values, [name]: to.value }
  const before = Object.hasOwn(values, name) ? values[name] : undefined
  return { ...values, [name]: withValue(isObject(before) ? before : {}, rest, to) }
}

/**
 * A copy without the value at one path. Objects that become empty are removed, unless they are
 * kept.
 */
function without(
  values: Values,
  [name = '', ...rest]: readonly string[],
  kept: ReadonlySet<string>,
  above = '',
): Values {
  if (!Object.hasOwn(values, name)) return values
  const { [name]: before, ...others } = values
  if (rest.length === 0) return others
  if (!isObject(before)) return values
  const path = `${above}${name}`
  const inner = without(before, rest, kept, `${path}.`)
  const isEmpty = Object.keys(inner).length === 0 && !kept.has(path)
  return isEmpty ? others : { ...others, [name]: inner }
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

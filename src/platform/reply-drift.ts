import * as z from 'zod'
import { isObject } from '../text/json.ts'

/** An optional part of a reply whose type contradicts the contract. */
export interface Drift {
  /**
   * Dotted path; `*` stands for any list item. Every segment comes from the contract, never from
   * the reply.
   */
  readonly path: string
  /** The mismatch in types and names of the contract, such as `expected string, found number`. */
  readonly problem: string
}

/**
 * A reply in its documented shape, with the parts that were dropped, or the reason why it is
 * unusable.
 */
type WithoutDrift =
  | { readonly value: unknown; readonly drift: readonly Drift[] }
  /** The first required part that is missing or mistyped, such as `items.1.id: …`. */
  | { readonly fatal: string }

/**
 * Drops mistyped optional parts of a reply; `fatal` if a required part is missing or mistyped.
 * Nearly every field of a reply is optional [R], so one wrong field must not fail the operation,
 * but results must match the output schemas. Wrong items of an optional list are dropped singly. A
 * wrong item of a required list is fatal, because the list would falsely say that the item does not
 * exist. Null in a field that may only be absent counts as absent.
 */
export function withoutDrift(schema: z.core.$ZodType, reply: unknown): WithoutDrift {
  const drift: Found = new Map()
  const fitted = fitValue(schema, reply, { path: '', isOptional: false, drift })
  if ('wrong' in fitted) return { fatal: textOf(fitted.wrong) }
  return { value: fitted.value, drift: [...drift].map(([path, problem]) => ({ path, problem })) }
}

/** Problems by path. A problem appears once, in however many items it occurs. */
type Found = Map<string, string>

interface Place {
  readonly path: string
  /** True if the part may be omitted. */
  readonly isOptional: boolean
  readonly drift: Found
}

/** The value without its mistyped parts, or the reason why the whole value is wrong. */
type Fitted = { readonly value: unknown } | { readonly wrong: Wrong }

interface Wrong {
  /** Path within the value; empty for the value itself. */
  readonly at: readonly (string | number)[]
  readonly problem: string
}

const wrongItself = (expected: string, value: unknown): Fitted => ({
  wrong: { at: [], problem: `expected ${expected}, found ${jsonTypeOf(value)}` },
})

const wrongWithin = (name: string | number, { at, problem }: Wrong): Fitted => ({
  wrong: { at: [name, ...at], problem },
})

const textOf = ({ at, problem }: Wrong): string =>
  at.length === 0 ? problem : `${at.join('.')}: ${problem}`

/** The problem without item numbers, so that a problem of many items is reported once. */
const driftText = ({ at, problem }: Wrong): string =>
  textOf({ at: at.map((name) => (typeof name === 'number' ? '*' : name)), problem })

function fitValue(schema: z.core.$ZodType, value: unknown, place: Place): Fitted {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return value === undefined ? { value } : fitValue(schema.unwrap(), value, place)
  if (schema instanceof z.ZodNullable)
    return value === null ? { value } : fitValue(schema.unwrap(), value, place)
  // A list that reads as empty if it is absent (`absentAsEmpty`).
  if (schema instanceof z.ZodPipe)
    return (value ?? null) === null ? { value } : fitValue(schema.out, value, place)
  if (schema instanceof z.ZodUnion) return fitUnion(schema.options, value, place)
  if (schema instanceof z.ZodObject && isObject(value)) return fitObject(schema, value, place)
  if (schema instanceof z.ZodArray && Array.isArray(value)) return fitArray(schema, value, place)
  if (!hasOtherType(schema, value) && z.safeParse(schema, value).success) return { value }
  return wrongItself(typeOf(schema), value)
}

/**
 * Detects a type mismatch without parsing: a failed parse takes 6 µs, and a reply may have 300,000
 * wrong values.
 */
function hasOtherType(schema: z.core.$ZodType, value: unknown): boolean {
  const { type } = schema._zod.def
  return ['string', 'number', 'boolean'].includes(type)
    ? typeof value !== type
    : type === 'object' || type === 'array'
}

function fitUnion(options: readonly z.core.$ZodType[], value: unknown, place: Place): Fitted {
  const all = options.map((option) => {
    const drift: Found = new Map()
    return { fitted: fitValue(option, value, { ...place, drift }), drift }
  })
  const right = all.find(({ fitted }) => !('wrong' in fitted))
  for (const [path, problem] of right?.drift ?? []) place.drift.set(path, problem)
  return right?.fitted ?? wrongItself(options.map(typeOf).join(' or '), value)
}

function fitObject(
  schema: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
  { path, drift }: Place,
): Fitted {
  // Changed values by key; `undefined`: the value was dropped.
  const changed = new Map<string, unknown>()
  for (const [name, field, isOptional] of fieldsOf(schema)) {
    const inner = Object.hasOwn(value, name) ? value[name] : undefined
    if (inner === undefined && isOptional) continue
    const place = { path: path ? `${path}.${name}` : name, isOptional, drift }
    const result = fitValue(field, inner, place)
    if ('wrong' in result) {
      if (!isOptional) return wrongWithin(name, result.wrong)
      if (inner !== null) drift.set(place.path, driftText(result.wrong))
      changed.set(name, undefined)
    } else if (result.value !== inner) changed.set(name, result.value)
  }
  if (changed.size === 0) return { value }
  const fitted = Object.entries(value)
    .map(([name, inner]) => [name, changed.has(name) ? changed.get(name) : inner] as const)
    .filter(([, inner]) => inner !== undefined)
  return { value: Object.fromEntries(fitted) }
}

type Field = readonly [name: string, schema: z.core.$ZodType, isOptional: boolean]
const fieldsOfSchemas = new WeakMap<z.ZodObject, readonly Field[]>()

function fieldsOf(schema: z.ZodObject): readonly Field[] {
  const known = fieldsOfSchemas.get(schema)
  if (known) return known
  const fields = Object.entries(schema.shape).map(
    ([name, field]): Field => [name, field, isDroppable(field)],
  )
  fieldsOfSchemas.set(schema, fields)
  return fields
}

function fitArray(
  { element }: z.ZodArray,
  items: readonly unknown[],
  { path, isOptional, drift }: Place,
): Fitted {
  const place = { path: path ? `${path}.*` : '*', isOptional: false, drift }
  const fitted: unknown[] = []
  for (const [at, item] of items.entries()) {
    const result = fitValue(element, item, place)
    if (!('wrong' in result)) fitted.push(result.value)
    else if (!isOptional) return wrongWithin(at, result.wrong)
    else drift.set(place.path, driftText(result.wrong))
  }
  const isSame = fitted.length === items.length && fitted.every((item, at) => item === items[at])
  return { value: isSame ? items : fitted }
}

/**
 * True if a field may be dropped. A list of `absentAsEmpty` may not be dropped: it would then read
 * as empty, which would mean that there are no items.
 */
const isDroppable = (field: z.core.$ZodType): boolean =>
  field instanceof z.ZodOptional ||
  field instanceof z.ZodDefault ||
  (field instanceof z.ZodNullable && isDroppable(field.unwrap()))

function typeOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodNumberFormat) return 'integer'
  const { type } = schema._zod.def
  return type === 'record' ? 'object' : type
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'array' : typeof value
}

const driftOfReplies = new WeakMap<object, readonly Drift[]>()

/**
 * Records the dropped parts of a reply, so that callers can tell a dropped field from an absent
 * one.
 */
export function noteDrift(reply: unknown, drift: readonly Drift[]): void {
  if (typeof reply === 'object' && reply !== null && drift.length > 0)
    driftOfReplies.set(reply, drift)
}

/** The dropped parts of a reply that the client returned. */
export const driftOf = (reply: unknown): readonly Drift[] =>
  (typeof reply === 'object' && reply !== null && driftOfReplies.get(reply)) || []

/**
 * Returns a function that reports each dropped part once, over all replies and items. The number of
 * parts is bounded, because every path comes from the contract.
 */
export function driftReporter(
  report: (message: string) => void,
): (operation: string, drift: readonly Drift[]) => void {
  const reported = new Set<string>()
  return (operation, drift) => {
    for (const { path, problem } of drift) {
      const name = `${operation} ${path}`
      if (reported.has(name)) continue
      reported.add(name)
      report(
        `A reply of the platform to ${operation} is not as documented: ${path}: ${problem}. Such parts are left out of results. It is not reported again.`,
      )
    }
  }
}

/** Fields of a reply that are shown only in part, or not at all, because of drift. */
export const driftedFields = (reply: unknown): string[] =>
  driftOf(reply).map(({ path }) => path.split('.', 1)[0] ?? '')

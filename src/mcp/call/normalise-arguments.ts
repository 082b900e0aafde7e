import type { JsonSchema } from '../../contract/json-schema.ts'
import { closestWord, sameWord } from '../../text/closest-match.ts'
import type { ArgumentProblem } from './advice.ts'

/** Arguments in the shape of the schema, before they are parsed. */
interface NormalisedArguments {
  readonly value: unknown
  readonly problems: readonly ArgumentProblem[]
  /** Dotted paths of declared fields that were null, which means 'not given'. */
  readonly nulls: readonly string[]
}

/**
 * Unpacks objects and arrays that a client sent as JSON text, leaves out declared fields that are
 * null, and reports unknown names, at every depth. Undeclared fields are data and stay unchanged,
 * null too.
 */
export function normaliseArguments(given: unknown, schema: JsonSchema): NormalisedArguments {
  const found: Found = { problems: [], nulls: [] }
  return { value: normalised(given, schema, [], found), ...found }
}

interface Found {
  readonly problems: ArgumentProblem[]
  readonly nulls: string[]
}

/** How many unknown names are reported at most. */
const mostProblems = 20

function normalised(value: unknown, schema: JsonSchema, path: string[], found: Found): unknown {
  const unpacked = unpackedJson(value, schema)
  if (Array.isArray(unpacked)) {
    const items = schemaOf(schema.items)
    return unpacked.map((item, at) => normalised(item, items, [...path, String(at)], found))
  }
  if (typeof unpacked !== 'object' || unpacked === null) return unpacked
  const properties = schema.properties ?? {}
  return Object.fromEntries(
    Object.entries(unpacked).flatMap(([name, field]) => {
      const here = [...path, name]
      if (!Object.hasOwn(properties, name))
        return isAccepted(here, unpacked, schema, found) ? [[name, field]] : []
      if (field === null) {
        found.nulls.push(here.join('.'))
        return []
      }
      const nullsBefore = found.nulls.length
      const inner = normalised(field, schemaOf(properties[name]), here, found)
      // An object with nothing but nulls was filled in by a client: it is not given either.
      const wasEmptied = isEmptyObject(inner) && found.nulls.length > nullsBefore
      return wasEmptied && !isRequired(name, schema) ? [] : [[name, inner]]
    }),
  )
}

/** Whether an undeclared name is accepted; otherwise it is reported. */
function isAccepted(path: string[], object: object, schema: JsonSchema, found: Found): boolean {
  const name = path.at(-1) ?? ''
  const known = Object.keys(schema.properties ?? {})
  if (schema.additionalProperties !== false && !sameWord(name, known)) return true
  if (found.problems.length >= mostProblems) return false
  const missing = known.filter((one) => isRequired(one, schema) && !Object.hasOwn(object, one))
  found.problems.push(unknownArgument(path, known, missing))
  return false
}

const isRequired = (name: string, { required }: JsonSchema) => required?.includes(name) ?? false

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length === 0

const schemaOf = (schema: unknown): JsonSchema =>
  typeof schema === 'object' && schema !== null ? { ...schema } : {}

/** Some clients send objects and arrays as JSON text. */
export function unpackedJson(value: unknown, { type }: JsonSchema): unknown {
  if (typeof value !== 'string') return value
  if ((type !== 'object' && type !== 'array') || !/^\s*[{[]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function unknownArgument(path: string[], known: string[], missing: string[]): ArgumentProblem {
  const name = path.at(-1) ?? ''
  // Comparing costs time, so only texts that could be names are compared.
  const meant =
    name.length > 64 ? undefined : (closestWord(name, missing) ?? closestWord(name, known))
  const hint = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}`
  return { argument: path.join('.'), message: `no such argument; ${hint}` }
}

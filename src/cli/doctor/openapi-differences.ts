import { closestWord } from '../../text/closest-match.ts'
import type { Light } from './findings.ts'
import type {
  DocumentedOperation,
  DocumentedOperations,
  SchemaField,
  SchemaFields,
} from './openapi-document.ts'

/** A difference between the platform's OpenAPI document and this program's contract. */
export interface Difference {
  /** `red`: a feature fails; `yellow`: a feature behaves differently; `green`: for information. */
  readonly light: Exclude<Light, 'skipped'>
  /** The difference and its consequence. */
  readonly text: string
}

/** Returns the tools that use an operation, given its id in this program's OpenAPI document. */
type ToolsOf = (operationId: string | undefined) => readonly string[]

export function differences(
  ours: DocumentedOperations,
  theirs: DocumentedOperations,
  toolsOf: ToolsOf,
): Difference[] {
  const known = [...ours].flatMap(([key, operation]) => {
    const other = theirs.get(key)
    return other
      ? ofOperation(operation, other, toolsOf)
      : [missingOperation(operation, ours, theirs, toolsOf)]
  })
  const added = [...theirs]
    .filter(([key]) => !ours.has(key))
    .map(
      ([, { method, path }]): Difference => ({
        light: 'green',
        text: `${method} ${path} is new: no tool of this version uses it.`,
      }),
    )
  return worstFirst([...known, ...added])
}

const severity = { red: 0, yellow: 1, green: 2 } as const

/** Sorts by severity, because only the first differences are shown. */
export const worstFirst = (found: readonly Difference[]): Difference[] =>
  found.toSorted((one, other) => severity[one.light] - severity[other.light])

function missingOperation(
  { method, path, operationId }: DocumentedOperation,
  ours: DocumentedOperations,
  theirs: DocumentedOperations,
  toolsOf: ToolsOf,
): Difference {
  const added = [...theirs].filter(([key, one]) => !ours.has(key) && one.method === method)
  const meant = closestWord(
    path,
    added.map(([, one]) => one.path),
  )
  const tools = toolsOf(operationId)
  const what =
    tools.length === 0
      ? 'what needs it does'
      : `${tools.join(', ')} ${tools.length === 1 ? 'does' : 'do'}`
  return {
    light: 'red',
    text: `${method} ${path} is not offered${meant === undefined ? '' : ` (perhaps it is ${meant} now)`}: ${what} not work.`,
  }
}

function ofOperation(
  ours: DocumentedOperation,
  theirs: DocumentedOperation,
  toolsOf: ToolsOf,
): Difference[] {
  const tools = toolsOf(ours.operationId).join(', ')
  const where = tools === '' ? `${ours.method} ${ours.path}` : tools
  // A document may omit the schema of a reply.
  const comparedReply = theirs.reply.size === 0 ? [] : [theirs.reply]
  const comparedBody = theirs.body.size === 0 ? [] : [theirs.body]
  return [
    ...fieldDifferences(ours.query, theirs.query, sent('parameter', where)),
    ...comparedBody.flatMap((body) => fieldDifferences(ours.body, body, sent('field', where))),
    ...comparedReply.flatMap((reply) => fieldDifferences(ours.reply, reply, replied(where))),
  ]
}

/** Differences that a missing or an added field of a schema causes. */
interface Meaning {
  /** True if a missing field may have a new name. */
  readonly findsRenamed: boolean
  readonly missing: (name: string, field: SchemaField, now: string | undefined) => Difference
  readonly added: (name: string, field: SchemaField) => Difference
}

function fieldDifferences(
  ours: SchemaFields,
  theirs: SchemaFields,
  meaning: Meaning,
  prefix = '',
): Difference[] {
  const added = [...theirs].filter(([name]) => !ours.has(name))
  const renamed = new Set<string | undefined>()
  const known = [...ours].flatMap(([name, field]): Difference[] => {
    const other = theirs.get(name)
    if (other) {
      const isOpen = field.fields.size === 0 || other.fields.size === 0
      const inner = `${prefix}${name}.`
      return isOpen ? [] : fieldDifferences(field.fields, other.fields, meaning, inner)
    }
    const names = meaning.findsRenamed ? added.map(([one]) => one) : []
    const now = closestWord(name, names)
    renamed.add(now)
    return [meaning.missing(prefix + name, field, now)]
  })
  const fresh = added.filter(([name]) => !renamed.has(name))
  return [...known, ...fresh.map(([name, field]) => meaning.added(prefix + name, field))]
}

/**
 * Differences for query parameters or body fields. `where` names the affected tools, for messages.
 */
function sent(kind: 'parameter' | 'field', where: string): Meaning {
  const effect =
    kind === 'parameter'
      ? 'the platform may ignore it, and then results are not narrowed by it'
      : 'the platform may ignore it, and then it is not saved'
  return {
    findsRenamed: true,
    missing(name, _, now) {
      const what = now === undefined ? 'is not known there' : `seems to be called ${now} now`
      return { light: 'yellow', text: `${where}: the ${kind} ${name} ${what}: ${effect}.` }
    },
    added: (name, { isRequired }) =>
      isRequired
        ? {
            light: 'red',
            text: `${where}: the ${kind} ${name} is required now, and this version does not send it, so the platform refuses the request.`,
          }
        : {
            light: 'green',
            text: `${where}: the ${kind} ${name} is new; this version cannot send it.`,
          },
  }
}

/** Differences for fields of replies. Tools pass replies through unchanged. */
const replied = (where: string): Meaning => ({
  findsRenamed: false,
  missing: (name, { isRequired }) => ({
    light: isRequired ? 'yellow' : 'green',
    text: `${where}: results have no ${name}.`,
  }),
  added: (name) => ({
    light: 'green',
    text: `${where}: results also have ${name}, which is passed on as it is.`,
  }),
})

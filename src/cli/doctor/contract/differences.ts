import type { Light } from '../check.ts'
import type { DocumentedOperation, DocumentedOperations } from './operations.ts'
import type { SchemaFields } from './schema-fields.ts'

/** A difference between the platform's document and the API that this program speaks. */
export interface Difference {
  /** `red`: something does not work; `yellow`: something works otherwise; `green`: good to know. */
  readonly light: Exclude<Light, 'skipped'>
  /** The difference, and what it means here. */
  readonly text: string
}

/** What the comparison is given besides the documents. */
export interface Comparing {
  /** The tools that use an operation, by its id in our document. */
  readonly toolsOf: (operationId: string | undefined) => readonly string[]
  /** The name that is most like another one. */
  readonly closest: (name: string, names: readonly string[]) => string | undefined
}

/** What differs, the worst first. */
export function differences(
  ours: DocumentedOperations,
  theirs: DocumentedOperations,
  comparing: Comparing,
): Difference[] {
  const known = [...ours].flatMap(([key, operation]) => {
    const other = theirs.get(key)
    return other
      ? ofOperation(operation, other, comparing)
      : [missingOperation(operation, ours, theirs, comparing)]
  })
  const added = [...theirs]
    .filter(([key]) => !ours.has(key))
    .map(
      ([, { method, path }]): Difference => ({
        light: 'green',
        text: `${method} ${path} is new: no tool of this version uses it.`,
      }),
    )
  const order = ['red', 'yellow', 'green']
  return [...known, ...added].toSorted((a, b) => order.indexOf(a.light) - order.indexOf(b.light))
}

function missingOperation(
  { method, path, operationId }: DocumentedOperation,
  ours: DocumentedOperations,
  theirs: DocumentedOperations,
  { toolsOf, closest }: Comparing,
): Difference {
  const added = [...theirs].filter(([key, one]) => !ours.has(key) && one.method === method)
  const meant = closest(
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
  comparing: Comparing,
): Difference[] {
  const tools = comparing.toolsOf(ours.operationId).join(', ')
  const where = tools === '' ? `${ours.method} ${ours.path}` : tools
  return [
    ...sentDifferences('parameter', ours.query, theirs.query, { where, ...comparing }),
    // A document may leave a schema out.
    ...(theirs.body.size === 0
      ? []
      : sentDifferences('field', ours.body, theirs.body, { where, ...comparing })),
    ...(theirs.reply.size === 0 ? [] : replyDifferences(ours.reply, theirs.reply, where)),
  ]
}

interface Place extends Comparing {
  /** The tools, as messages name them. */
  readonly where: string
}

/** What is sent: parameters of the query, or fields of the body. */
function sentDifferences(
  kind: 'parameter' | 'field',
  ours: SchemaFields,
  theirs: SchemaFields,
  place: Place,
  prefix = '',
): Difference[] {
  const { where, closest } = place
  const added = [...theirs.keys()].filter((name) => !ours.has(name))
  const renamed = new Set<string>()
  const known = [...ours].flatMap(([name, field]): Difference[] => {
    const other = theirs.get(name)
    if (other) {
      const isOpen = field.fields.size === 0 || other.fields.size === 0
      const inner = `${prefix}${name}.`
      return isOpen ? [] : sentDifferences(kind, field.fields, other.fields, place, inner)
    }
    const now = closest(name, added)
    if (now !== undefined) renamed.add(now)
    return [{ light: 'yellow', text: `${where}: ${goneText(kind, prefix + name, now)}` }]
  })
  const fresh = added
    .filter((name) => !renamed.has(name))
    .map(
      (name): Difference =>
        theirs.get(name)?.isRequired
          ? {
              light: 'red',
              text: `${where}: the ${kind} ${prefix}${name} is required now, and this version does not send it, so the platform refuses the request.`,
            }
          : {
              light: 'green',
              text: `${where}: the ${kind} ${prefix}${name} is new; this version cannot send it.`,
            },
    )
  return [...known, ...fresh]
}

function goneText(kind: 'parameter' | 'field', name: string, now: string | undefined): string {
  const effect =
    kind === 'parameter'
      ? 'the platform may ignore it, and then results are not narrowed by it'
      : 'the platform may ignore it, and then it is not saved'
  return now === undefined
    ? `the ${kind} ${name} is not known there: ${effect}.`
    : `the ${kind} ${name} seems to be called ${now} now: ${effect}.`
}

/** What comes back. Tools pass fields on as they are. */
function replyDifferences(
  ours: SchemaFields,
  theirs: SchemaFields,
  where: string,
  prefix = '',
): Difference[] {
  const known = [...ours].flatMap(([name, field]): Difference[] => {
    const other = theirs.get(name)
    if (!other) {
      return [
        {
          light: field.isRequired ? 'yellow' : 'green',
          text: `${where}: results have no ${prefix}${name}.`,
        },
      ]
    }
    const isOpen = field.fields.size === 0 || other.fields.size === 0
    return isOpen ? [] : replyDifferences(field.fields, other.fields, where, `${prefix}${name}.`)
  })
  const fresh = [...theirs.keys()]
    .filter((name) => !ours.has(name))
    .map(
      (name): Difference => ({
        light: 'green',
        text: `${where}: results also have ${prefix}${name}, which is passed on as it is.`,
      }),
    )
  return [...known, ...fresh]
}

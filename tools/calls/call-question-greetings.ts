import { type Agent, AgentUpdate } from '../../src/contract/agent.ts'
import type { CallCreate } from '../../src/contract/call.ts'
import {
  type DialogText,
  dialogText,
  joinDialogTexts,
  quoted,
  quotedUpTo,
} from '../../src/text/dialog-text.ts'
import { type SpokenGreeting, spokenGreeting } from '../../src/tool/checks/greeting.ts'

/** Request body of one call of a batch. */
export interface BatchBody {
  /** 0-based index in the batch. */
  readonly at: number
  readonly body: CallCreate
}

type Facts = Record<string, DialogText>

/** Maximum length of a greeting in a question, characters. The rest is counted. */
const longestShown = 600

/** Maximum number of greetings shown for a batch. */
const maxGreetings = 3

/** Maximum number of empty variables named, and of calls named for each. */
const maxEmptyNames = 10

/**
 * Time for rendering the greetings after the first, ms. Templates are untrusted, and a batch has up
 * to a hundred calls. The first rendering does not count, because it also loads the template
 * engine.
 */
const maxRenderMs = 200

interface BatchGreeting {
  readonly at: number
  readonly greeting: SpokenGreeting
}

/** The spoken greetings and their empty variables, for the person who confirms the calls. */
export async function greetingFacts(agent: Agent, calls: readonly BatchBody[]): Promise<Facts> {
  const greetings = await greetingsOf(agent, calls)
  if (greetings === undefined)
    return { Greeting: dialogText`not known: overrides.initial_message is not valid` }
  const texts = greetings.map(({ at, greeting }) => ({ at, text: inWords(greeting) }))
  const groups = [...Map.groupBy(texts, ({ text }) => text)]
  const shown = groups.slice(0, maxGreetings)
  const others = greetings.length - shown.reduce((count, [, group]) => count + group.length, 0)
  const left = calls.length - greetings.length
  const isOneForAll = groups.length === 1 && left === 0
  return {
    ...(!isOneForAll && templateFact(agent, calls)),
    ...Object.fromEntries(
      shown.map(([text, group]) => [isOneForAll ? 'Greeting' : greetingName(group), text]),
    ),
    ...(others > 0 && {
      'Other greetings': dialogText`${others} more calls, the same template with their own values`,
    }),
    ...(left > 0 && {
      'Greetings not rendered here': dialogText`${left} more calls, the same template with their own values`,
    }),
    ...emptyFact(greetings),
  }
}

/**
 * The template of the greetings, shown unless all calls have the same greeting. All calls of the
 * batch share their overrides.
 */
function templateFact(agent: Agent, [first]: readonly BatchBody[]): Facts {
  const { message } =
    AgentUpdate.shape.initial_message.parse(first?.body.overrides?.initial_message) ?? {}
  const template = message ?? agent.initial_message?.message
  return typeof template === 'string' && template !== ''
    ? { 'Greeting template': quotedUpTo(template, longestShown) }
    : {}
}

/**
 * Renders greetings until time is up or a greeting is too large. `undefined`: the calls override
 * the greeting with invalid values.
 */
async function greetingsOf(
  agent: Agent,
  calls: readonly BatchBody[],
): Promise<readonly BatchGreeting[] | undefined> {
  let end: number | undefined
  const greetings: BatchGreeting[] = []
  for (const { at, body } of calls) {
    const greeting = await greetingOf(agent, body)
    if (greeting === undefined) return undefined
    greetings.push({ at, greeting })
    end ??= performance.now() + maxRenderMs
    if (greeting.kind === 'unknown' || performance.now() > end) break
  }
  return greetings
}

function greetingName(calls: readonly { readonly at: number }[]): string {
  const [first, ...more] = calls.map(({ at }) => at + 1)
  const others = more.length > 0 ? ` and ${more.length} more` : ''
  return `Greeting of call ${first}${others}`
}

/** Renders a call's greeting; `undefined`: the call overrides the greeting with invalid values. */
async function greetingOf(agent: Agent, body: CallCreate): Promise<SpokenGreeting | undefined> {
  const { type, from_number, to_number, medium, test_variables } = body
  const changed = AgentUpdate.shape.initial_message.safeParse(body.overrides?.initial_message)
  if (!changed.success) return undefined
  const saved = agent.initial_message
  const greeting = changed.data === null ? null : { ...saved, ...changed.data }
  if (body.skip_greeting_on_initial_text && body.initial_text)
    return { kind: 'none', why: 'initial_text takes its place' }
  const facts = {
    agentId: agent.id,
    fromNumber: from_number,
    toNumber: to_number,
    type,
    medium,
    testVariables: test_variables,
  }
  const spoken = await spokenGreeting(greeting, facts)
  if (spoken.kind !== 'spoken' || spoken.empty.length === 0) return spoken
  const marks = Object.fromEntries(spoken.empty.map((path) => [path, `[blank: ${path}]`]))
  const marked = await spokenGreeting(greeting, {
    ...facts,
    testVariables: { ...test_variables, ...marks },
  })
  return withMarks(spoken, marked, Object.values(marks))
}

/**
 * The greeting with a mark in place of each empty variable, if the marks are all that differs. A value
 * in place of nothing can choose another branch of the template, or be changed by a filter: the
 * greeting then stays without marks.
 */
function withMarks(
  spoken: Extract<SpokenGreeting, { kind: 'spoken' }>,
  marked: SpokenGreeting,
  marks: readonly string[],
): SpokenGreeting {
  if (marked.kind !== 'spoken') return spoken
  const text = marks.reduce((rest, mark) => rest.replaceAll(mark, ''), marked.text)
  return text === spoken.text ? { ...spoken, text: marked.text } : spoken
}

function inWords(greeting: SpokenGreeting): DialogText {
  switch (greeting.kind) {
    case 'none':
      return dialogText`nothing is spoken first: ${quoted(greeting.why)}`
    case 'fails':
      return dialogText`does not render: ${quotedUpTo(greeting.error)}`
    case 'unknown':
      return dialogText`not known, too large to render here: ${quotedUpTo(greeting.why)}`
    case 'spoken': {
      const text = quotedUpTo(greeting.text, longestShown)
      const said = greeting.isReworded ? dialogText`the model words it from ${text}` : text
      return greeting.fromPlatform.length > 0
        ? dialogText`${said}, the platform fills in […]`
        : said
    }
  }
}

/** Names the variables without a value, and the calls that lack them. */
function emptyFact(greetings: readonly BatchGreeting[]): Facts {
  const places = greetings.flatMap(({ at, greeting }) =>
    'empty' in greeting ? greeting.empty.map((name) => ({ name, at })) : [],
  )
  const names = [...Map.groupBy(places, ({ name }) => name)]
  if (names.length === 0) return {}
  const shown = names.slice(0, maxEmptyNames).map(([name, calls]) => {
    const numbers = calls.slice(0, maxEmptyNames).map(({ at }) => dialogText`${at + 1}`)
    const more =
      calls.length > numbers.length
        ? dialogText` and ${calls.length - numbers.length} more`
        : dialogText``
    return calls.length === greetings.length
      ? quotedUpTo(name)
      : dialogText`${quotedUpTo(name)} (call ${joinDialogTexts(numbers, ', ')}${more})`
  })
  const more = names.length - shown.length
  const rest = more > 0 ? [dialogText`${more} more`] : []
  return { 'Left blank in the greeting': joinDialogTexts([...shown, ...rest], ', ') }
}

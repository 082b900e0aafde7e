import { ProtocolError, type Prompt as ProtocolPrompt } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Agent } from '../contract/agent.ts'
import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { ApiError, failureText, isRejectedWith } from '../platform/failure.ts'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import { resultOr } from '../platform/time-limit.ts'
import type { SafeText } from '../text/safe-text.ts'
import { accountReader } from '../tool/account-reader.ts'
import { didYouMean } from '../tool/references/did-you-mean.ts'
import { withIdsForNames } from '../tool/references/names-to-ids.ts'
import { accountIds, type CompletionSource } from './completions.ts'

/** Data that a prompt embeds as a resource, or one line with the reason why it is missing. */
export type Attachment =
  | {
      readonly what: string
      readonly uri: string
      readonly mimeType: string
      readonly text: string
    }
  | { readonly what: string; readonly missing: string }

/** Content of a prompt's messages: the task, then the attached data. */
export interface PromptContent {
  readonly text: SafeText
  readonly attachments: readonly Attachment[]
}

/** One argument of a prompt. The protocol sends every argument as a string. */
export interface PromptArgument<T extends z.ZodType = z.ZodType> {
  /** Parses the text; its description is what clients show. */
  readonly schema: T
  /** The values that `completion/complete` offers; absent for free text. */
  readonly completion?: CompletionSource
}

type ArgumentRecord = Readonly<Record<string, PromptArgument>>

type SchemasOf<A extends ArgumentRecord> = { [Name in keyof A]: A[Name]['schema'] }

/** A prompt as written in src/prompts. */
interface PromptSpec<A extends ArgumentRecord> {
  /** `verb_noun`, as tools are named. */
  readonly name: string
  readonly title: string
  readonly description: string
  /**
   * Route that reads the subject of the prompt. The prompt is listed only if an exposed tool uses
   * the same route.
   */
  readonly requires?: Route
  readonly arguments: A
  readonly prepare: (
    args: z.output<z.ZodObject<SchemasOf<A>>>,
    reader: PromptReader,
  ) => Promise<PromptContent>
}

/** One prompt: a task in words, with the data that it needs. */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly requires: Route | undefined
  /** Parses all arguments. */
  readonly input: z.ZodObject
  readonly completions: Readonly<Record<string, CompletionSource | undefined>>
  /** The prompt as `prompts/list` shows it; `pinned`: without `account_id`. */
  readonly listed: (account: 'any' | 'pinned') => ProtocolPrompt
  readonly prepare: (args: Record<string, unknown>, reader: PromptReader) => Promise<PromptContent>
}

/** Every prompt takes this argument, as its last, because it is rarely given. */
const accountArgument: PromptArgument = {
  schema: z
    .string()
    .optional()
    .describe("Account or subaccount id. Default: the API key's own account."),
  completion: accountIds,
}

export function definePrompt<A extends ArgumentRecord>(spec: PromptSpec<A>): Prompt {
  const { name, title, description, requires, prepare } = spec
  const all: ArgumentRecord = { ...spec.arguments, account_id: accountArgument }
  const input = z.object(eachArgument(all, ({ schema }) => schema))
  return {
    name,
    title,
    description,
    requires,
    input,
    completions: eachArgument(all, ({ completion }) => completion),
    listed: (account) => ({
      name,
      title,
      description,
      arguments: Object.entries(all)
        .filter(([argument]) => account === 'any' || argument !== 'account_id')
        .map(([argument, { schema }]) => ({
          name: argument,
          description: descriptionOf(schema),
          required: !(schema instanceof z.ZodOptional),
        })),
    }),
    // Safe: `input`, which is built from the same schemas, has parsed the arguments.
    prepare: (args, reader) => prepare(args as z.output<z.ZodObject<SchemasOf<A>>>, reader),
  }
}

const eachArgument = <T>(
  all: ArgumentRecord,
  pick: (argument: PromptArgument) => T,
): Record<string, T> =>
  Object.fromEntries(Object.entries(all).map(([name, argument]) => [name, pick(argument)]))

/** The description of a field, or of the schema that an optional field wraps. */
function descriptionOf(field: z.ZodType): string {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field
  return field.description ?? (inner instanceof z.ZodType ? inner.description : undefined) ?? ''
}

/** A value that was read, or the reason, as text, why it could not be read. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** Reads the platform for one prompt, on the account that the prompt is about. */
export type PromptReader = ReturnType<typeof createPromptReader>

interface PromptRequest {
  readonly prompt: string
  readonly session: RestrictedSession
  readonly account: string
  readonly signal: AbortSignal
}

/** Maximum length of an error about an agent's name, characters: it may list many agents. */
const longestProblem = 500

/** Timeout for optional data of a prompt, ms. */
const optionalDataMs = 10_000

export function createPromptReader(prompt: PromptRequest) {
  const { session, account, signal } = prompt
  const { client, redact } = session
  const request = { params: { account_id: account }, query: {} }
  const reader = accountReader({ request, session, signal })
  const { requestOf } = reader
  /** The protocol's invalid-params error about an argument. */
  const invalidArgument = (argument: string, problem: string) =>
    new ProtocolError(-32602, redact(`${prompt.prompt}: ${argument}: ${problem}`))

  /**
   * Reads the subject of the prompt. Throws a ProtocolError that names `argument`, which identifies
   * the subject.
   */
  const require = async <R extends Route>(
    route: R,
    given: Partial<RouteRequest>,
    argument?: string,
  ): Promise<ReplyOf<R>> => {
    const request = requestOf(given)
    return client
      .call(route, request, signal)
      .catch(asProtocolError({ ...prompt, route, request, argument }))
  }

  return {
    ...reader,
    ...{ session, signal, invalidArgument, require },
    /** Reads the agent with that id or exact name. Throws ProtocolError. */
    async requireAgent(reference: string): Promise<Agent> {
      const request = requestOf({ params: { agent_id: reference } })
      const route = routes.agents.list
      const named = await withIdsForNames(request, session, signal).catch(
        asProtocolError({ ...prompt, route, request, argument: 'agent_id' }),
      )
      if (!named.ok) {
        throw invalidArgument('agent_id', named.problem.message.slice(0, longestProblem))
      }
      return require(routes.agents.get, named.request, 'agent_id')
    },
    /**
     * Waits for optional data, up to `optionalDataMs`. An ApiError, a timeout or a cancellation
     * becomes a `problem` and does not fail the prompt.
     */
    attempt: <T>(work: Promise<T>) => attempt(work, signal),
  }
}

interface FailedRequest extends PromptRequest {
  readonly route: Route
  readonly request: RouteRequest
  /** The argument whose value identifies the object, if any. */
  readonly argument: string | undefined
}

/**
 * Rethrows an ApiError as a ProtocolError: about the argument if the platform refuses its value,
 * otherwise an internal error with the reason.
 */
const asProtocolError =
  (failed: FailedRequest) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof ApiError)) throw error
    throw await protocolErrorOf(error, failed)
  }

async function protocolErrorOf(
  error: ApiError,
  { prompt, session, route, request, argument }: FailedRequest,
): Promise<ProtocolError> {
  const { failure } = error
  const isRefused = isRejectedWith(error, 404, 422) || failure.kind === 'bad_parameter'
  if (argument === undefined || !isRefused) {
    return new ProtocolError(
      -32603,
      session.redact(`${prompt}: ${route.summary} It could not be read (${failureText(failure)}).`),
    )
  }
  const hints = await didYouMean(error, request, session)
  // The unknown id may be that of the account.
  const named = 'account_id' in hints ? 'account_id' : argument
  const hint = Object.values(hints).join(' ')
  return new ProtocolError(
    -32602,
    session.redact(`${prompt}: ${named}: not found (${failureText(failure)}). ${hint}`.trim()),
  )
}

async function attempt<T>(work: Promise<T>, signal: AbortSignal): Promise<ReadResult<T>> {
  const read = work.then(
    (value): ReadResult<T> => ({ ok: true, value }),
    (error: unknown): ReadResult<T> => {
      if (!(error instanceof ApiError)) throw error
      return { ok: false, problem: failureText(error.failure) }
    },
  )
  const missed = (reason: 'late' | 'aborted'): ReadResult<T> => ({
    ok: false,
    problem: reason === 'late' ? `nothing within ${optionalDataMs / 1000} s` : 'cancelled',
  })
  return resultOr(read, missed, { ms: optionalDataMs, signal })
}

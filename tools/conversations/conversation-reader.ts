import type { Conversation, Message } from '../../src/contract/conversation.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText, isNotFound } from '../../src/platform/failure.ts'
import { mapConcurrently } from '../../src/platform/map-concurrently.ts'
import { requestMs, withTimeLimit } from '../../src/platform/time-limit.ts'
import type { Run } from '../../src/tool/tool.ts'

/*
 * Reads many conversations with their transcripts. The platform's list has the transcripts; a call
 * is read singly only where the list lacks its transcript.
 */

/** Maximum conversations, bytes and pages that one tool call reads. */
const max = { conversations: 2000, bytes: 10_000_000, pages: 40 } as const

const maxPerPage = 100

/** Maximum number of calls read singly at the same time. */
const callConcurrency = 8

/** Maximum number of calls read singly by one tool call. */
const maxCalls = 200

type ReadingRun = Pick<
  Run,
  'request' | 'session' | 'restricted' | 'signal' | 'answerBy' | 'progress'
>

export interface Reading {
  /** Index of the first conversation in the platform's list. */
  readonly from: number
  /** Maximum number of conversations, if below `max.conversations`. */
  readonly limit: number
  /**
   * Receives the conversations in order. `messages` is absent if the transcript could not be read.
   */
  readonly add: (conversation: Conversation, messages: readonly Message[] | undefined) => void
  /** Returns true to stop reading. */
  readonly isEnough: () => boolean
}

/** Conversations or transcripts that were not read, and why. */
export interface NotRead {
  readonly reason: 'bound' | 'page_failed' | 'offset_ignored' | 'miscounted' | 'no_transcript'
  readonly message: string
  /** Number of conversations; `null`: not known. */
  readonly conversations: number | null
  /** Ids of conversations whose transcript was not read. */
  readonly ids?: readonly string[]
}

export interface ConversationsRead {
  /** Number of conversations read. */
  readonly read: number
  /** Length of the platform's list; `undefined`: not known. */
  readonly count: number | undefined
  /** True if more conversations follow, or may follow. */
  readonly hasMore: boolean
  readonly notRead: readonly NotRead[]
}

/**
 * Reads conversations page by page, at most 2,000 or 10 MB. Reading ends early at the time limit or
 * if a later page fails; everything read until then is returned. Throws ApiError if the first page
 * fails or the caller cancels.
 */
export function readConversations(run: ReadingRun, reading: Reading): Promise<ConversationsRead> {
  const msLeft = Math.min(run.answerBy - performance.now(), requestMs)
  return withTimeLimit(msLeft, run.signal, (signal) => readPages(run, reading, signal))
}

async function readPages(
  run: ReadingRun,
  { from, limit: wanted, add, isEnough }: Reading,
  signal: AbortSignal,
): Promise<ConversationsRead> {
  const readPage = pageReader(run, signal)
  const transcripts = transcriptReader(run, signal)
  // A platform may ignore `offset`, which some versions of the API reference lack, and return its
  // first conversations again. Reading the first conversation detects this.
  const first = from > 0 ? (await readPage(0, 1)).items[0] : undefined
  const seen = new Set<string>()
  let count: number | undefined
  let bytes = 0
  const end = (isOver: boolean, notRead?: Omit<NotRead, 'conversations'>): ConversationsRead => {
    const read = seen.size
    const left = count === undefined ? null : Math.max(0, count - from - read)
    return {
      ...{ read, count },
      hasMore: !isOver && left !== 0,
      notRead: [
        ...(notRead && left !== 0 ? [{ ...notRead, conversations: left }] : []),
        ...transcripts.notRead(),
      ],
    }
  }
  for (let page = 0; ; page++) {
    const read = seen.size
    if (read >= wanted || isEnough()) return end(false)
    const isBound = read >= max.conversations || bytes >= max.bytes || page >= max.pages
    if (isBound) return end(false, { reason: 'bound', message: boundMessage(read) })
    // Number of conversations that fit the byte bound, estimated from the average size so far.
    const fitting = read === 0 ? maxPerPage : Math.ceil(((max.bytes - bytes) * read) / bytes)
    const perPage = Math.min(maxPerPage, fitting, wanted - read, max.conversations - read)
    const reply = await readPage(from + read, perPage).catch((error: unknown) => {
      if (read === 0 || run.signal?.aborted || !(error instanceof ApiError)) throw error
      return error
    })
    if (reply instanceof ApiError) {
      return end(false, { reason: 'page_failed', message: pageMessage(reply) })
    }
    const { items, limit } = reply
    count = reply.count ?? count
    if (read === 0 && first && items[0]?.conversation_id === first.conversation_id) {
      return end(true, offsetIgnored)
    }
    const fresh = items.filter(({ conversation_id: id }) => !seen.has(id))
    const isCounted = count !== undefined && from + read + fresh.length >= count
    if (fresh.length === 0) {
      const isRepeated = items.length > 0
      const isOver = isCounted || (count === undefined && (!isRepeated || items.length < limit))
      return end(true, isOver ? undefined : isRepeated ? offsetIgnored : miscounted)
    }
    const messages = await mapConcurrently(fresh, callConcurrency, (one) => transcripts.of(one))
    for (const [at, one] of fresh.entries()) {
      seen.add(one.conversation_id)
      add(one, messages[at])
    }
    bytes += Buffer.byteLength(JSON.stringify(items))
    const all = count === undefined ? '' : ` of ${count - from}`
    run.progress(seen.size, `${seen.size}${all} conversations read`)
    // A platform may count the page instead of the list, so the count of a full page proves
    // nothing.
    if (isCounted && items.length < limit) return end(true)
  }
}

const boundMessage = (read: number) =>
  `${read} were read, and the most at once are 2,000, 10 MB or ${max.pages} pages`
const pageMessage = ({ failure }: ApiError) =>
  failure.kind === 'cancelled' ? 'the time was over' : failureText(failure)
const offsetIgnored = {
  reason: 'offset_ignored',
  message:
    'the platform ignored offset and gave its first conversations again; narrow created_after and created_before',
} as const
const miscounted = {
  reason: 'miscounted',
  message: 'the platform counts more conversations than it lists',
} as const

/**
 * Reads a page of at most `perPage` conversations. If the reply is too large, retries with fewer.
 */
function pageReader({ request, session }: ReadingRun, signal: AbortSignal) {
  let largest = maxPerPage
  return async (offset: number, perPage: number) => {
    for (;;) {
      const limit = Math.min(perPage, largest)
      const query = { ...request.query, limit, offset }
      try {
        const asked = { params: request.params, query }
        return { limit, ...(await session.client.call(routes.conversations.list, asked, signal)) }
      } catch (error) {
        if (!isTooLarge(error) || limit === 1) throw error
        largest = Math.ceil(limit / 4)
      }
    }
  }
}

const isTooLarge = (error: unknown) =>
  error instanceof ApiError &&
  error.failure.kind === 'unreadable' &&
  error.failure.reason === 'too_large'

/** Reads the transcripts of conversations, including those that the list lacks. */
function transcriptReader(
  { request, restricted, signal: caller }: ReadingRun,
  signal: AbortSignal,
) {
  const unread: { readonly id: string; readonly why: string }[] = []
  let calls = 0
  /** The reason why no more single calls are read; `undefined`: reading goes on. */
  let stopped: string | undefined
  const addUnread = (id: string, why: string): undefined => void unread.push({ id, why })
  return {
    /** The messages of a conversation; `undefined`: they could not be read. */
    async of({ conversation_id: id, messages }: Conversation) {
      if (messages) return messages
      if (calls === maxCalls) stopped ??= `only ${maxCalls} calls are read one by one`
      if (stopped !== undefined) return addUnread(id, stopped)
      calls++
      try {
        const asked = { params: { ...request.params, call_id: id }, query: {} }
        const call = await restricted.client.call(routes.calls.get, asked, signal)
        return call.messages ?? []
      } catch (error) {
        if (!(error instanceof ApiError) || caller?.aborted) throw error
        if (isNotFound(error)) return addUnread(id, noSuchCall)
        stopped = pageMessage(error)
        return addUnread(id, stopped)
      }
    },
    notRead: (): NotRead[] =>
      [...Map.groupBy(unread, ({ why }) => why)].map(([why, of]) => ({
        reason: 'no_transcript',
        message: `the list has no transcript of them: ${why}`,
        conversations: of.length,
        ids: of.slice(0, maxIds).map(({ id }) => id),
      })),
  }
}

const noSuchCall =
  'this account has no call with their id (a call of a subaccount is found with its account_id)'

/** Maximum number of ids named per reason. */
const maxIds = 20

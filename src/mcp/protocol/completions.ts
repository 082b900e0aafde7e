import {
  type CompleteRequest,
  type CompleteResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { ApiError } from '../../api/failure.ts'
import { resultOr } from '../../api/time-limit.ts'
import { type Candidates, candidatesFor, isOneLine } from '../../prompts/candidates.ts'
import { type PromptContext, promptCalled } from '../../prompts/index.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import { clientText } from '../../text/client-text.ts'
import { resourceTemplates } from './resources.ts'

type CompleteParams = CompleteRequest['params']

/** Most values of one reply, by the protocol. */
const mostValues = 100

/** How long somebody who types waits for the platform, ms. */
const patienceMs = 3000

const nothing: Candidates = { all: [], isPart: false }

/**
 * What an argument of a prompt or resource template may become. Comes out of memory, so that each
 * key costs no request; when the platform does not answer there is nothing to offer, and no error.
 */
export async function complete(
  { session, onBug }: PromptContext,
  { ref, argument, context }: CompleteParams,
  signal: AbortSignal,
): Promise<CompleteResult> {
  const isPrompt = ref.type === 'ref/prompt'
  checkReference(ref, session)
  const given = context?.arguments?.account_id?.trim()
  const account = session.account ?? (given || 'me')
  const offered = candidatesFor(argument.name, { session, account, isPrompt }).catch(
    (error: unknown) => {
      if (!(error instanceof ApiError)) onBug(error)
      return nothing
    },
  )
  const inTime = await resultOr(offered, () => nothing, { ms: patienceMs, signal })
  return completionOf(argument.value, inTime)
}

/** What does not exist cannot be completed: the protocol's invalid params. */
function checkReference(ref: CompleteParams['ref'], session: RestrictedSession): void {
  if (ref.type === 'ref/prompt') promptCalled(ref.name, session)
  else if (!resourceTemplates(session).some(({ uriTemplate }) => uriTemplate === ref.uri)) {
    throw new ProtocolError(-32602, `There is no resource template ${clientText(ref.uri)}.`)
  }
}

/** Those that match, the likeliest first. */
function completionOf(typed: string, { all, isPart }: Candidates): CompleteResult {
  const wanted = fold(typed)
  const found = all
    .map((candidate) => ({ candidate, rank: rankOf(wanted, candidate) }))
    .filter(({ rank }) => rank < noMatch)
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate: { value } }) => value)
  // What is shown changed would not be found again, and what is not changed could pretend something.
  const values = [...new Set(found)].filter(isOneLine)
  return {
    completion: {
      values: values.slice(0, mostValues),
      // Of those that were not read nobody knows how many match.
      ...(!isPart && { total: values.length }),
      hasMore: isPart || values.length > mostValues,
    },
  }
}

const noMatch = 3

/** 0: the value begins so; 1: a word of it or of its name does; 2: it stands somewhere in them. */
function rankOf(wanted: string, { value, names }: Candidates['all'][number]): number {
  const texts = [value, ...names.filter((name) => typeof name === 'string')].map(fold)
  if (texts[0]?.startsWith(wanted)) return 0
  if (texts.some((text) => text.startsWith(wanted) || hasWord(text, wanted))) return 1
  return texts.some((text) => text.includes(wanted)) ? 2 : noMatch
}

const hasWord = (text: string, wanted: string) =>
  [' ', '/', '-', '('].some((before) => text.includes(before + wanted))

/** `münchen` is found by `Munchen`, and `America/New_York` by `new york`. */
const fold = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[_\s]+/g, ' ')
    .toLowerCase()

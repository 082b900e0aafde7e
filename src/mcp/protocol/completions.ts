import {
  type CompleteRequest,
  type CompleteResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { ApiError } from '../../api/failure.ts'
import { resultOr } from '../../api/time-limit.ts'
import { settledAccount } from '../../session/account.ts'
import { clientText } from '../../text/client-text.ts'
import {
  type Candidates,
  type CompletionSource,
  isOneLine,
  noCandidates,
} from './completion-sources.ts'
import { type PromptContext, promptNamed } from './prompts.ts'
import { templateAt } from './resource-catalogue.ts'

type CompleteParams = CompleteRequest['params']

/** Most values of one reply, by the protocol. */
const mostValues = 100

/** Longest wait for the platform: a person is typing, ms. */
const longestWaitMs = 3000

/**
 * Values for an argument of a prompt or of a resource template. Recent replies are used again, so
 * that each keystroke costs no request. If the platform does not answer, the list is empty: no error.
 */
export async function complete(
  prompts: PromptContext,
  { ref, argument, context }: CompleteParams,
  signal: AbortSignal,
): Promise<CompleteResult> {
  const { session, onBug } = prompts
  const source = sourceFor(ref, argument.name, prompts)
  if (!source) return completionOf(argument.value, noCandidates)
  const given = context?.arguments?.account_id?.trim()
  const account = settledAccount(given, session.pinnedAccount)
  const found = source({ session, account }).catch((error: unknown) => {
    if (!(error instanceof ApiError)) onBug(error)
    return noCandidates
  })
  const inTime = await resultOr(found, () => noCandidates, { ms: longestWaitMs, signal })
  return completionOf(argument.value, inTime)
}

/**
 * Where the values come from; `undefined` for free text and for what is no argument. Throws the
 * protocol's invalid-params error for an unknown prompt or template.
 */
function sourceFor(
  ref: CompleteParams['ref'],
  argument: string,
  prompts: PromptContext,
): CompletionSource | undefined {
  if (ref.type === 'ref/prompt') {
    const { completions } = promptNamed(ref.name, prompts)
    return Object.hasOwn(completions, argument) ? completions[argument] : undefined
  }
  const template = templateAt(ref.uri, prompts.session)
  if (!template) {
    throw new ProtocolError(-32602, `There is no resource template ${clientText(ref.uri)}.`)
  }
  return template.uriTemplate.includes(`{${argument}}`) ? template.completion : undefined
}

/** The matching values, the best matches first. */
function completionOf(typed: string, { all, isPart }: Candidates): CompleteResult {
  const wanted = fold(typed)
  const found = all
    .map((candidate) => ({ candidate, rank: rankOf(wanted, candidate) }))
    .filter(({ rank }) => rank < noMatch)
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate: { value } }) => value)
  // A value of several lines or with hidden characters could mislead; escaped it would not be found again.
  const values = [...new Set(found)].filter(isOneLine)
  return {
    completion: {
      values: values.slice(0, mostValues),
      // How many of the unread ones match is unknown.
      ...(!isPart && { total: values.length }),
      hasMore: isPart || values.length > mostValues,
    },
  }
}

const noMatch = 3

/** 0: the value begins with the text; 1: a word of the value or of a name does; 2: one of them holds it. */
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

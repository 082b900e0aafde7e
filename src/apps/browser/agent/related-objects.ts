import { isObject } from '../../../text/json.ts'
import { assignedNumbers, maxNumbersRead } from '../shared/assigned-numbers.ts'
import type { ToolResult } from '../shared/host.ts'
import type { Args, Page } from '../shared/view.ts'
import { type Voice, VoicesData, voicesIn } from '../voices/data.ts'
import type { AgentData, Fields } from './data.ts'

/*
 * Background requests for data that an agent only refers to: its phone numbers and its voice. A
 * failure is not shown, because the card is complete without this data.
 */

/** Maximum voices in one request. */
const maxVoices = 500

/** Tool arguments that select an agent's account; empty for the API key's own account. */
export const accountArgs = (accountId: unknown): Args => given('account_id', accountId)

/** The phone numbers that an agent is assigned to; empty if it has none, or they cannot be read. */
export const numbersOf = async (
  agentId: unknown,
  account: Args,
  page: Page<AgentData>,
): Promise<string> =>
  assignedNumbers(
    await readOnce('list_phone_numbers', { ...account, limit: maxNumbersRead }, page),
    [agentId],
  )

/** Catalog entry of an agent's voice; null if it is not listed, `undefined` if that cannot be read. */
export async function voiceOf(
  { voice, transcriber }: Fields,
  account: Args,
  page: Page<AgentData>,
): Promise<Voice | null | undefined> {
  if (!isObject(voice) || typeof voice.provider !== 'string') return undefined
  const language = voice.language ?? onlyLanguage(transcriber)
  const { data } = VoicesData.safeParse(
    await readOnce(
      'list_voices',
      {
        ...{ ...account, provider: voice.provider, ...given('language', language) },
        ...{ limit: maxVoices, fields: ['preview_url'] },
      },
      page,
    ),
  )
  return data && (voicesIn(data).find(({ id }) => id === voice.voice_id) ?? null)
}

/** The language of a transcriber that has only one. */
function onlyLanguage(transcriber: unknown): unknown {
  const { languages, language } = isObject(transcriber) ? transcriber : {}
  return Array.isArray(languages) && languages.length === 1 ? languages[0] : language
}

const given = (name: string, value: unknown): Args =>
  typeof value === 'string' && value !== '' ? { [name]: value } : {}

const read = new Map<string, Promise<ToolResult | undefined>>()

/**
 * Data of a tool's result, read once and cached while the view is open; `undefined` if the host or
 * the server refuses.
 */
async function readOnce(tool: string, args: Args, { host }: Page<AgentData>): Promise<unknown> {
  if (!host.canCallTools()) return undefined
  const key = JSON.stringify([tool, args])
  const result = read.get(key) ?? host.callTool(tool, args).catch(() => undefined)
  read.set(key, result)
  const { isError = false, structuredContent } = (await result) ?? {}
  return isError ? undefined : structuredContent
}

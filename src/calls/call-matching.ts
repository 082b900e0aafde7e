import type { Call } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { isMintedExternalId } from '../state/call-journal.ts'

/*
 * Identifies the wanted call in a list. Some platforms ignore filters or `offset`, return fewer
 * items than requested, count the items of one page only, list a call without its external id, or
 * write its id, numbers or agent in another form. So a call that is not in the list may still
 * exist. The rules:
 *
 * 1. A listed call is the wanted call if its external id contains the id that this server created,
 *    in any form. It is also the wanted call if its external id equals the caller's own id, unless
 *    the call is to another person.
 * 2. A listed call is another call if it is to another person (a number shown whole differs in its
 *    last eight digits), is of the other type (phone or web), was created before the search period,
 *    or is in the journal as the call of another request. A different external id proves this only
 *    for a web call, which has no number.
 * 3. Every other listed call leaves a doubt: it may be the wanted call. A list that was not read to
 *    its end also leaves a doubt. An empty page is the end, unless some page's `count` exceeds the
 *    number of calls listed. A page that only repeats known ids is not the end.
 * 4. The call is certainly absent if the list was read long enough after the send and leaves no
 *    doubt.
 *
 * The search period begins with the first send. A caller's own id is also looked up before its
 * first send, with four differences:
 *
 * - The search period is the journal's retention time. All calls of the period are read, because an
 *   empty list filtered by the id rules out only calls that are listed without an external id.
 * - A different external id proves that a call is another call, unless it is a form of the caller's
 *   id.
 * - A call with exactly the caller's id and a masked number leaves a doubt.
 * - A call with exactly the caller's id is another call if its type or agent differs.
 */

export interface WantedCall {
  readonly externalId: string
  /**
   * False: this server has not sent the external id. The id is the caller's own, and another
   * installation may have sent it.
   */
  readonly wasSent: boolean
  /** True: this server created the external id and sent it. */
  readonly isOurId: boolean
  readonly type: string | undefined
  readonly agentId: string | undefined
  readonly toNumber: string | undefined
}

export function wantedCall(
  externalId: string,
  { body = {} }: Pick<RouteRequest, 'body'>,
  { wasSent }: { readonly wasSent: boolean },
): WantedCall {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return {
    externalId,
    wasSent,
    isOurId: wasSent && isMintedExternalId(externalId),
    type: text(body.type),
    agentId: text(body.agent_id),
    toNumber: text(body.to_number),
  }
}

/** True if the listed call has the wanted external id. The call may still be to another person. */
export function isListedAs({ external_id }: Call, { externalId, isOurId }: WantedCall): boolean {
  if (external_id === externalId) return true
  return isOurId && plain(external_id).includes(plain(externalId))
}

/**
 * True if the call is to another person. Numbers that are shown whole identify a person by their
 * last eight digits.
 */
export const isAnotherPerson = (call: Call, wanted: WantedCall): boolean =>
  person(call, wanted) === 'another'

/** True if the listed number is masked so far that it does not identify the person. */
export const isMasked = (call: Call, wanted: WantedCall): boolean =>
  Boolean(call.to_number) && person(call, wanted) === undefined

/** Compares the called persons; `undefined` if the numbers do not identify them. */
function person(call: Call, { toNumber }: WantedCall): 'the wanted' | 'another' | undefined {
  const [shown, wanted] = [digitsOf(call.to_number), digitsOf(toNumber)]
  if (shown === undefined || wanted === undefined) return undefined
  if (shown.slice(-8) === wanted.slice(-8)) return 'the wanted'
  return isPartOf(shown, wanted) ? undefined : 'another'
}

const isAnotherType = ({ type: shown }: Call, { type }: WantedCall) =>
  (shown === 'phone' && type === 'web') || (shown === 'web' && type === 'phone')

/**
 * True if a call that has the caller's own id is certainly another call. Does not compare caller
 * numbers, because the platform may use another number of the account.
 */
export function isAnotherCall(call: Call, wanted: WantedCall): boolean {
  const [shown, agent] = [plain(call.agent_id), plain(wanted.agentId)]
  const isAnotherAgent = !shown.endsWith(agent) && !agent.endsWith(shown)
  return isAnotherPerson(call, wanted) || isAnotherType(call, wanted) || isAnotherAgent
}

/**
 * What the external ids of listed calls prove. `nothing`: a call with another id, or without an id,
 * may be the wanted call. `others`: a call with another id is not the wanted call. `also by
 * absence`: a call without an id is not the wanted call either.
 */
export type IdEvidence = 'nothing' | 'others' | 'also by absence'

/** True if a call that is not listed under the wanted id may still be the wanted call. */
export function mayBe(
  call: Call,
  wanted: WantedCall,
  { since, ids }: { readonly since: number; readonly ids: IdEvidence },
): boolean {
  if (isAnotherPerson(call, wanted) || isAnotherType(call, wanted)) return false
  if (Date.parse(call.created ?? '') < since) return false
  const shown = plain(call.external_id)
  if (shown === '') return ids !== 'also by absence'
  return (ids === 'nothing' && wanted.type !== 'web') || isFormOf(shown, plain(wanted.externalId))
}

/**
 * A number without hidden digits: digits, some in brackets, with at most one separator between two.
 * A text with several separators in a row, or with any other character, is taken as masked.
 */
const wholeNumber =
  /^\s*(?:tel:|sips?:)?(\+?(?:\d|\(\d+\))(?:[\s.\-/]?(?:\d|\(\d+\)))*)\s*(?:[;@].*)?$/i

/** Digits of a number that is shown whole; `undefined` if the number is masked or too short. */
function digitsOf(number: string | null | undefined): string | undefined {
  const digits = wholeNumber.exec(number ?? '')?.[1]?.replace(/\D/g, '') ?? ''
  return digits.length >= 8 ? digits : undefined
}

/** True if the shown number lacks digits of the whole number, at its end or in between. */
function isPartOf(shown: string, whole: string): boolean {
  let same = 0
  while (same < shown.length && shown[same] === whole[same]) same++
  return shown.length < whole.length && whole.endsWith(shown.slice(same))
}

/** Letters and digits of an id, in lower case. */
const plain = (id: string | null | undefined) =>
  (id ?? '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Minimum length at which an id with a prefix and a cut end is still recognised, characters. */
const minCutIdLength = 6

/** True if the shown text contains the id. The id may be cut off at the end of the shown text. */
function isFormOf(shown: string, id: string): boolean {
  if (shown.includes(id) || id.startsWith(shown)) return true
  for (let length = Math.min(id.length, shown.length); length >= minCutIdLength; length--)
    if (shown.endsWith(id.slice(0, length))) return true
  return false
}

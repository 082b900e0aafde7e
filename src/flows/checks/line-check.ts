import { ApiError } from '../../api/failure.ts'
import { resultOr } from '../../api/time-limit.ts'
import type { PhoneNumber } from '../../contract/phone-number.ts'
import type { ReplyOf, Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { closestItems, itemLabel, nameWithId } from '../../text/closest-match.ts'
import { described, type Shown } from '../../text/quoted.ts'
import { type Check, doubtful, ok, wrong } from './check.ts'

/** How what is known of a line is read, and of which account. */
export interface Reads {
  readonly account: string
  readonly read: <R extends Route>(route: R, asked: RouteRequest) => Promise<ReplyOf<R>>
}

/** Numbers are looked through to find one: the platform has no filter for them. */
const mostNumbers = 2000
const numbersPerPage = 200

/** Whether a number is the account's own, and on a trunk that can dial out. */
export async function checkLine(from: string, reads: Reads): Promise<Check[]> {
  const { numbers, number, isAll } = await findNumber(from, reads)
  if (number) {
    const name = number.friendly_name ? `${from} (${number.friendly_name})` : from
    return [ok('from_number', name), await checkTrunk(number, reads)]
  }
  const known = numbers.map((one) => ({ id: one.number ?? one.id, names: [one.friendly_name] }))
  const near = closestItems(from, known)
  const some = (near.length > 0 ? near : known.slice(0, 5)).map(itemLabel).join(', ')
  const fix = some ? `call from one of your own: ${some}` : 'add a number with create_phone_number'
  return [
    isAll
      ? wrong('from_number', `${from} is no number of this account`, fix)
      : doubtful('from_number', `${from} is not among the first ${numbers.length} numbers`, fix),
  ]
}

async function findNumber(from: string, { account, read }: Reads) {
  const known = new Map<string, PhoneNumber>()
  const result = (isAll: boolean, number?: PhoneNumber) => ({
    numbers: [...known.values()],
    number,
    isAll,
  })
  while (known.size < mostNumbers) {
    const before = known.size
    const query = { limit: numbersPerPage, offset: before }
    const asked = { params: { account_id: account }, query }
    const { items, count } = await read(routes.phoneNumbers.list, asked)
    for (const one of items) known.set(one.id, one)
    const number = items.find((one) => one.number === from)
    const isLast = count === undefined ? items.length < numbersPerPage : known.size >= count
    if (number || isLast || items.length === 0) return result(true, number)
    // The same page again: the platform ignores offset, and what lies beyond cannot be read.
    if (known.size === before) return result(false)
  }
  return result(false)
}

async function checkTrunk(
  { id, sip_trunk: trunk }: PhoneNumber,
  { account, read }: Reads,
): Promise<Check> {
  if (!trunk) {
    const fix = `put it on one with update_phone_number, phone_number_id ${id} (list_sip_trunks)`
    return wrong('trunk', 'the number is on no SIP trunk', fix)
  }
  const name = nameWithId(trunk.name, trunk.id)
  if (trunk.is_managed) return ok('trunk', `${name}, of the platform`)
  const asked = { params: { account_id: account, sip_trunk_id: trunk.id }, query: {} }
  const whole = await unlessMissing(read(routes.sipTrunks.get, asked))
  if (!whole) {
    return wrong(
      'trunk',
      `the number has no trunk: ${name}, which it names, does not exist`,
      `put it on another with update_phone_number, phone_number_id ${id} (list_sip_trunks)`,
    )
  }
  if (whole.termination_uri) return ok('trunk', `${name} dials out by ${whole.termination_uri}`)
  return wrong(
    'trunk',
    `${name} cannot dial out: it has no termination URI`,
    'set termination_uri with update_sip_trunk',
  )
}

/** Longest warning that a question holds, in characters. */
const longestWarning = 500

/** How long a question waits for what is known of the line, ms. */
const patienceMs = 1000

/**
 * What a person who is asked should know of the number that is called from; nothing when there is
 * nothing to say, or it cannot be found out soon. Only told: whether the platform would take the
 * call is not published. Out of memory, but nothing is called wrong by what may be old.
 */
export async function lineFact(
  { request, restricted: { cache } }: Pick<Run, 'request' | 'restricted'>,
  from: string | undefined,
): Promise<Record<string, Shown>> {
  if (from === undefined) return {}
  const account = accountIn(request)
  const problemBy = async (how: 'read' | 'refresh') => {
    const read: Reads['read'] = (route, asked) => cache[how](route, asked, 'names')
    return (await checkLine(from, { account, read })).find((check) => !check.ok)
  }
  const found = problemBy('read')
    .then((problem) => problem && problemBy('refresh'))
    .catch((error: unknown) => {
      if (error instanceof ApiError) return undefined
      throw error
    })
  const problem = await resultOr(found, () => undefined, { ms: patienceMs })
  return problem
    ? { 'Will probably fail': described(`${problem.found}; ${problem.fix}`, longestWarning) }
    : {}
}

export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    const isMissing =
      error instanceof ApiError &&
      (error.failure.kind === 'bad_parameter' ||
        (error.failure.kind === 'rejected' && error.failure.status === 404))
    if (isMissing) return undefined
    throw error
  }
}

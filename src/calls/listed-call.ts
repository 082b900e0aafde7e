import type { Call } from '../contract/call.ts'

/** What a list says of a call. */
export interface Listed {
  readonly call: Call | undefined
  /** Without a call: the list was read as a whole, and nothing in it can be the call. */
  readonly isSure: boolean
}

/** One page of the calls that a list shows: `count` is how many there are on all pages. */
export type ReadPage = (page: { readonly limit: number; readonly offset: number }) => Promise<{
  readonly items: readonly Call[]
  readonly count?: number | undefined
}>

/** Calls on a page, and the most pages that are read: what takes longer is not sure. */
const limit = 100
const mostPages = 50

/** How a call is recognised: by its external id; `toNumber` says what it cannot be without one. */
export interface Sign {
  readonly externalId: string
  readonly toNumber: string | undefined
}

/**
 * Looks for a call on all pages of a list, for a platform that ignores the filter by external id
 * and shows other calls, too. The list is complete with an empty page, or where its `count` says so.
 * One that ignores `offset` repeats its first page, and is complete only if it counts no more.
 */
export const findInPages = (sign: Sign, read: ReadPage): Promise<Listed> =>
  findIn(sign, read, mayBe)

/**
 * The same in a list of all calls, for a platform that shortens external ids or changes their case:
 * by such an id nobody can say which call it is, so there is doubt, and nothing is sent again.
 */
export const findRespelled = (sign: Sign, read: ReadPage): Promise<Listed> =>
  findIn(sign, read, (call, { externalId, ...rest }) => {
    const shown = call.external_id?.trim().toLowerCase() ?? ''
    const respelled = { ...call, external_id: shown }
    return (
      shown !== '' && mayBe(respelled, { externalId: externalId.trim().toLowerCase(), ...rest })
    )
  })

async function findIn(
  sign: Sign,
  read: ReadPage,
  mayBeIt: (item: Call, sign: Sign) => boolean,
): Promise<Listed> {
  const seen = new Set<string>()
  let hasDoubt = false
  for (let page = 0; page < mostPages; page++) {
    const { items, count } = await read({ limit, offset: seen.size })
    const call = items.find(({ external_id }) => external_id === sign.externalId)
    if (call) return { call, isSure: true }
    hasDoubt ||= items.some((item) => mayBeIt(item, sign))
    const before = seen.size
    for (const { id } of items) seen.add(id)
    // A full page does not prove that its count is the count of all.
    const isComplete = items.length === 0 || (items.length < limit && seen.size === count)
    if (isComplete) return { call: undefined, isSure: !hasDoubt }
    if (seen.size === before) break
  }
  return { call: undefined, isSure: false }
}

/** Shown without its external id, or with the beginning of it: nobody can say that it is another. */
function mayBe({ external_id, to_number }: Call, { externalId, toNumber }: Sign): boolean {
  const isOther = Boolean(to_number) && toNumber !== undefined && to_number !== toNumber
  return externalId.startsWith(external_id ?? '') && !isOther
}

/*
 * The examples of the OpenAPI document show one small account, the same in every example. The ids
 * are those of a new sandbox, so an example can be sent to it unchanged. Telephone numbers are from
 * the range reserved for fiction, addresses and hosts from those reserved for documentation.
 */

const id = (kind: number, index: number) => `00000000-0000-4000-800${kind}-00000000000${index}`

export const exampleIds = {
  account: id(1, 1),
  subaccount: id(1, 2),
  agent: id(2, 1),
  trunk: id(3, 1),
  number: id(4, 1),
  newNumber: id(4, 3),
  call: id(5, 1),
}

export const exampleTimes = {
  created: '2026-11-02T08:30:00.000Z',
  modified: '2026-11-20T16:05:00.000Z',
}

/** The number that the example account owns, and its name. */
export const exampleLine = { number: '+12025550110', name: 'Main line' }

export const exampleTrunkName = 'Office trunk'

/** Examples by name: see `examples`. */
export type Examples = Readonly<Record<string, unknown>>

export const pageWith = <T>(item: T) => ({ count: 1, items: [item] })

/** Keys of a new sandbox: two unrelated accounts, and a subaccount of the first. */
export const sandboxKeys = {
  main: 'sandbox-key',
  subaccount: 'sandbox-subaccount-key',
  other: 'sandbox-other-key',
} as const

/** A fixed id in the form of a UUID v4, so that examples and tests can name it. */
export const seedId = (kind: number, index: number) =>
  `00000000-0000-4000-8${kind.toString(16).padStart(3, '0')}-${index.toString(16).padStart(12, '0')}`

/** Ids of the data of a new sandbox. */
export const seedIds = {
  account: seedId(1, 1),
  subaccount: seedId(1, 2),
  secondSubaccount: seedId(1, 3),
  otherAccount: seedId(1, 4),
  supportAgent: seedId(2, 1),
  trunk: seedId(3, 1),
  inboundTrunk: seedId(3, 2),
  mainNumber: seedId(4, 1),
  spareNumber: seedId(4, 2),
  inboundNumber: seedId(4, 3),
} as const

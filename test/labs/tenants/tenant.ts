/*
 * Users of a platform, each with a key and an account of its own. Everything of a user carries its
 * number: what of one user reaches another is recognised wherever it appears.
 */

export interface Tenant {
  readonly nth: number
  /** In every name and text of this user. */
  readonly mark: string
  readonly key: string
  readonly account: string
  readonly agent: string
  readonly fromNumber: string
}

const digitsOf = (nth: number) => String(nth).padStart(5, '0')

/** The user with a number below 100,000. */
export function tenantOf(nth: number): Tenant {
  const digits = digitsOf(nth)
  return {
    nth,
    mark: `user-${digits}`,
    key: `sk-tenant-${digits}`,
    account: `00000000-0000-4000-8000-0000000${digits}`,
    agent: `00000000-0000-4000-8001-0000000${digits}`,
    fromNumber: `+49302${digits}5`,
  }
}

/** The nth number that a user calls, below 1000. In France: no emergency code is in one. */
export const calledNumber = ({ nth }: Pick<Tenant, 'nth'>, call: number): string =>
  `+336${digitsOf(nth)}${String(call).padStart(3, '0')}`

const traces =
  /user-(\d{5})|00000000-0000-4000-800[01]-0000000(\d{5})|\+49302(\d{5})5|\+336(\d{5})\d{3}/g

/** The numbers of all users of whom something is in a text. */
const tenantsIn = (text: string): Set<number> =>
  new Set([...text.matchAll(traces)].map(([, ...digits]) => Number(digits.find(Boolean))))

/** Of which other users something is in a text. */
export const strangersIn = (text: string, { nth }: Pick<Tenant, 'nth'>): number[] =>
  [...tenantsIn(text)].filter((found) => found !== nth)

/** The user of a key; `undefined`: no user has it. */
export function tenantOfKey(key: unknown): Tenant | undefined {
  const [, digits] = /^sk-tenant-(\d{5})$/.exec(String(key)) ?? []
  return digits === undefined ? undefined : tenantOf(Number(digits))
}

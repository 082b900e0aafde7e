import { createHash } from 'node:crypto'

/** The company's accounts: the main account, and a subaccount for each branch. */
export const accountNames = {
  company: 'Northwind Dental Group',
  berlin: 'Berlin branch',
  hamburg: 'Hamburg branch',
  vienna: 'Vienna branch',
} as const
export type AccountKey = keyof typeof accountNames

/** The account that was closed last year. */
export const disabledAccount: AccountKey = 'vienna'

export interface TrunkSeed {
  readonly name: string
  readonly account: AccountKey
  /** Null for a trunk with incoming calls only. */
  readonly termination_uri: string | null
  readonly allowed_ips: readonly string[]
}

/** Addresses of a gateway that stays as it is. */
const gateway = '192.0.2.0/24'
/** Gateway that the provider replaces by `newGateway`; a job changes the trunks accordingly. */
export const oldGateway = '203.0.113.9'
export const newGateway = '198.51.100.7'

const trunk = (
  name: string,
  account: AccountKey,
  termination_uri: string | null,
  ...allowed_ips: readonly string[]
): TrunkSeed => ({ name, account, termination_uri, allowed_ips })

export const trunkSeeds: readonly TrunkSeed[] = [
  trunk('Office trunk', 'company', 'sip.office.example:5060', gateway, oldGateway),
  trunk('Old carrier', 'company', 'sip.old-carrier.example', gateway),
  trunk('New carrier', 'company', 'sip.new-carrier.example:5061', oldGateway, '198.51.100.20'),
  trunk('Inbound only', 'company', null, gateway, oldGateway),
  trunk('Berlin trunk', 'berlin', 'sip.berlin.example', oldGateway, '192.0.2.44'),
  trunk('Hamburg trunk', 'hamburg', 'sip.hamburg.example', gateway, newGateway),
]

export interface NumberSeed {
  readonly number: string
  readonly name: string
  readonly account: AccountKey
  readonly trunk: string
  readonly answeredBy: string | null
}

const line = (
  last: number,
  name: string,
  account: AccountKey,
  trunk: string,
  answeredBy: string | null,
): NumberSeed => ({ number: `+12025550${last}`, name, account, trunk, answeredBy })

export const numberSeeds: readonly NumberSeed[] = [
  line(110, 'Main line', 'company', 'Office trunk', 'Reception'),
  line(111, 'Sales line', 'company', 'Office trunk', null),
  line(112, 'Hotline north', 'company', 'Office trunk', 'Support line'),
  line(113, 'Hotline south', 'company', 'Office trunk', 'Support line'),
  line(114, 'Campaign line', 'company', 'Office trunk', 'Spring campaign B'),
  line(115, 'Practice one', 'company', 'Old carrier', 'Reception'),
  line(116, 'Practice two', 'company', 'Old carrier', null),
  line(117, 'Practice three', 'company', 'Old carrier', 'Support line German'),
  line(118, 'Inbound line', 'company', 'Inbound only', 'Support line'),
  line(119, 'Berlin desk', 'berlin', 'Berlin trunk', 'Reception Berlin'),
  line(120, 'Berlin spare', 'berlin', 'Berlin trunk', null),
  line(121, 'Hamburg desk', 'hamburg', 'Hamburg trunk', 'Reception Hamburg'),
  line(122, 'Hamburg fax', 'hamburg', 'Hamburg trunk', null),
]

/**
 * Derives an id in UUID v4 form from words. The first word is the job's name, because one database
 * holds the companies of all jobs.
 */
export function idOf(...words: readonly (string | number)[]): string {
  const hex = createHash('sha256').update(words.join('/')).digest('hex')
  const [a, b, c, d, e] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
    hex.slice(20, 32),
  ]
  return `${a}-${b}-4${c}-8${d}-${e}`
}

/** The API key of a job's company. */
export const keyOf = (job: string): string => `jobs-${job}`

import type { AccountKey } from './accounts.ts'

export interface TrunkSeed {
  readonly name: string
  readonly account: AccountKey
  /** Null: it takes incoming calls only. */
  readonly termination_uri: string | null
}

export const trunkSeeds: readonly TrunkSeed[] = [
  { name: 'Office trunk', account: 'company', termination_uri: 'sip.office.example:5060' },
  { name: 'Old carrier', account: 'company', termination_uri: 'sip.old-carrier.example' },
  { name: 'New carrier', account: 'company', termination_uri: 'sip.new-carrier.example:5061' },
  { name: 'Inbound only', account: 'company', termination_uri: null },
  { name: 'Berlin trunk', account: 'berlin', termination_uri: 'sip.berlin.example' },
  { name: 'Hamburg trunk', account: 'hamburg', termination_uri: 'sip.hamburg.example' },
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

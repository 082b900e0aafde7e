import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readScript } from './script-arguments.ts'

const usage = `Generates src/policy/area-code-time-zones.ts from published data.

node src/dev/area-zones.ts --npa npa_report.csv --map map_data.txt --release 9.0.34

  --npa      the report of area codes of the North American Numbering Plan Administrator
             (https://www.nanpa.com/reports): place, time zones by letter, codes that share an area
  --map      resources/timezones/map_data.txt of google/libphonenumber (Apache-2.0; its licence is
             beside the generated file)
  --release  the release of google/libphonenumber
`

/*
 * map_data.txt has the zones of single exchanges, some of which the report lacks, such as Mountain
 * time in eastern British Columbia. Its zones of whole area codes are not used: they are wrong for
 * some overlays (+1 689 is Orlando, not Central time).
 */

const { flags, refuse } = readScript(usage, { npa: undefined, map: undefined, release: undefined })
const given = (flag: keyof typeof flags) => flags[flag] ?? refuse(`--${flag} is missing.`)
const [npaFile, mapFile, release] = [given('npa'), given('map'), given('release')]

/** Zone of each letter in the report, by country. */
const zoneOfLetter: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  US: {
    E: 'America/New_York',
    C: 'America/Chicago',
    M: 'America/Denver',
    P: 'America/Los_Angeles',
  },
  CANADA: {
    N: 'America/St_Johns',
    A: 'America/Halifax',
    E: 'America/Toronto',
    C: 'America/Winnipeg',
    M: 'America/Edmonton',
    P: 'America/Vancouver',
  },
}

/**
 * Zones of places for which the report's letters are wrong, or for which it has text in place of
 * letters.
 */
const zonesOfPlace: Readonly<Record<string, readonly string[]>> = {
  AZ: ['America/Phoenix'],
  AK: ['America/Anchorage', 'America/Adak'],
  HI: ['Pacific/Honolulu'],
  // Nevada: West Wendover is on Mountain time.
  'NV 775': ['America/Los_Angeles', 'America/Denver'],
  // Lloydminster keeps the time of Alberta.
  SASKATCHEWAN: ['America/Regina', 'America/Edmonton'],
  // Yukon is on Mountain time all year, the east of Nunavut on Eastern time.
  'NORTHWEST TERRITORIES -YUKON - NUNAVUT': [
    'America/Whitehorse',
    'America/Edmonton',
    'America/Winnipeg',
    'America/Toronto',
  ],
}

/**
 * True for a place whose zones in zonesOfPlace are complete, so that zones of exchanges are not
 * added.
 */
const isWhole = (place: string) => place.startsWith('NORTHWEST') || place === 'SASKATCHEWAN'

/** Main zones; each represents all zones with the same clock. */
const mainZones = [
  ...new Set([
    ...Object.values(zoneOfLetter).flatMap((zones) => Object.values(zones)),
    ...Object.values(zonesOfPlace).flat(),
  ]),
]

interface Area {
  readonly code: string
  readonly country: 'US' | 'CANADA'
  readonly place: string
  readonly letters: string
  /** Codes that share the area. */
  readonly shared: readonly string[]
}

/** Fields of a CSV line; quoted fields may contain commas, no field has a line break. */
const fieldsOf = (line: string) =>
  [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, field = '']) =>
    field.replace(/^"|"$/g, '').trim(),
  )

function readReport(file: string): { date: string; areas: Area[] } {
  const [first = '', head = '', ...lines] = readFileSync(file, 'utf8').split(/\r?\n/)
  const names = fieldsOf(head)
  const areas = lines.flatMap((line): Area[] => {
    const fields = fieldsOf(line)
    const field = (name: string) => fields[names.indexOf(name)] ?? ''
    const country = field('COUNTRY')
    const isTerritory = /^(PR|VI|GU|AS|CNMI|MP|NN)$/.test(field('LOCATION'))
    if (country !== 'US' && country !== 'CANADA') return []
    if (field('ASSIGNED') !== 'Yes' || field('USE') !== 'G' || isTerritory) return []
    const shared = field('OVERLAY_COMPLEX').split('/').filter(Boolean)
    const [code, place, letters] = [field('NPA_ID'), field('LOCATION'), field('TIME_ZONE')]
    return [{ code, country, place, letters, shared: shared.map((one) => one.trim()) }]
  })
  return { date: fieldsOf(first)[1] ?? '', areas }
}

/**
 * Time zones of single exchanges, grouped by area code. An exchange is a line whose prefix is longer
 * than the area code.
 */
function readExchanges(file: string): Map<string, Set<string>> {
  const zones = new Map<string, Set<string>>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, code, found] = /^1(\d{3})\d+\|(.*)$/.exec(line) ?? []
    if (code === undefined || found === undefined) continue
    const all = zones.get(code) ?? new Set()
    for (const zone of found.split('&')) all.add(zone)
    zones.set(code, all)
  }
  return zones
}

const clockOf = (zone: string) =>
  [0, 2, 4, 6, 8, 10]
    .map((month) =>
      new Intl.DateTimeFormat('en', {
        timeZone: zone,
        dateStyle: 'short',
        timeStyle: 'short',
      }).format(Date.UTC(2026, month, 20)),
    )
    .join()

/** Main zone with the same clock in the country; empty if the zone is in another country. */
function mainZone(zone: string, country: Area['country']): string[] {
  const region = country === 'US' ? 'US' : 'CA'
  const locale: Intl.Locale & { getTimeZones?(): string[] } = new Intl.Locale(`und-${region}`)
  const inCountry = locale.getTimeZones?.() ?? []
  if (!inCountry.includes(zone)) return []
  const same = mainZones.find((one) => inCountry.includes(one) && clockOf(one) === clockOf(zone))
  return [same ?? zone]
}

const { date, areas } = readReport(npaFile)
const exchanges = readExchanges(mapFile)

function ownZones({ code, country, place, letters }: Area): string[] {
  const fixed = zonesOfPlace[`${place} ${code}`] ?? zonesOfPlace[place]
  if (fixed && isWhole(place)) return [...fixed]
  const byLetter = [...letters].map((letter) => zoneOfLetter[country]?.[letter])
  const reported = fixed ?? byLetter.filter((zone) => zone !== undefined)
  if (reported.length === 0) throw new Error(`${code} in ${place}: unknown zone letters ${letters}`)
  const ofExchanges = [...(exchanges.get(code) ?? [])].flatMap((zone) => mainZone(zone, country))
  return [...reported, ...ofExchanges]
}

const groups: Record<string, string[]> = {}
for (const area of areas) {
  const all = areas.filter(({ code }) => code === area.code || area.shared.includes(code))
  const zones = [...new Set(all.flatMap(ownZones))].sort().join(' ')
  groups[zones] = [...(groups[zones] ?? []), area.code]
}

const lines = Object.entries(groups)
  .sort(([, one], [, other]) => other.length - one.length)
  .map(([zones, codes]) => `  '${zones}': '${codes.join(' ')}',`)
const [month, day, year] = date.split('/')
writeFileSync(
  join(import.meta.dirname, '../policy/area-code-time-zones.ts'),
  `/*
 * Generated by src/dev/area-zones.ts; do not edit. Sources: the area code report of the North
 * American Numbering Plan Administrator of ${year}-${month}-${day}, and the zones of exchanges in
 * libphonenumber ${release} (https://github.com/google/libphonenumber, Apache-2.0).
 */

/** Area codes of the United States and Canada by the time zones that they reach into. */
export const northAmericanAreas: Readonly<Record<string, string>> = {
${lines.join('\n')}
}
`,
)

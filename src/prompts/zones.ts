import type { Candidate } from './candidates.ts'

/**
 * Zones under the names that are in use; Intl lists them under their old ones, and UTC not at all.
 */
const renamed: Readonly<Record<string, string>> = {
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
}

let known: readonly Candidate[] | undefined

/** IANA time zones, each found by the end of its name, the city, too. */
export function timeZones(): readonly Candidate[] {
  known ??= ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => ({
    value: renamed[zone] ?? zone,
    names: [zone.split('/').at(-1), zone],
  }))
  return known
}

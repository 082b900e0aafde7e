import type { Candidate } from './candidate.ts'

/** Intl lists these zones under their former names, and UTC not at all. */
const renamed: Readonly<Record<string, string>> = {
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
}

let zones: readonly Candidate[] | undefined

/** IANA time zones; each is found by its city too, the last part of its name. */
export function ianaTimeZones(): readonly Candidate[] {
  zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => ({
    value: renamed[zone] ?? zone,
    names: [zone.split('/').at(-1), zone],
  }))
  return zones
}

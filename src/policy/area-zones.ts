import { northAmericanAreas } from './north-american-areas.ts'

/** Area codes by their time zones; several zones are separated by a space. */
type AreaZones = Readonly<Record<string, string>>

/** Brazil: the two digits of the area, in mobile numbers as well (Anatel's plan of codes). */
const brazil: AreaZones = {
  'America/Sao_Paulo':
    '11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 ' +
    '49 51 53 54 55 61 62 64',
  'America/Bahia': '71 73 74 75 77 79',
  'America/Recife': '82 83 84 85 86 87 88 89 98 99',
  'America/Recife America/Noronha': '81',
  'America/Belem': '63 91 93 94 96',
  'America/Cuiaba': '65 66',
  'America/Campo_Grande': '67',
  'America/Rio_Branco': '68',
  'America/Porto_Velho': '69',
  'America/Manaus': '92',
  'America/Boa_Vista': '95',
  'America/Manaus America/Rio_Branco': '97',
}

/** Australia: the digit of the area, two for the west and centre. Mobile numbers have no area. */
const australia: AreaZones = {
  'Australia/Sydney Australia/Lord_Howe': '2',
  'Australia/Melbourne Australia/Hobart': '3',
  'Australia/Brisbane': '7',
  'Australia/Perth Australia/Eucla': '86 89',
  'Australia/Adelaide Australia/Darwin': '87 88',
}

/** Countries with several time zones whose area codes tell which. */
const countries: Readonly<Record<string, { callingCode: string; areas: AreaZones }>> = {
  US: { callingCode: '+1', areas: northAmericanAreas },
  CA: { callingCode: '+1', areas: northAmericanAreas },
  BR: { callingCode: '+55', areas: brazil },
  AU: { callingCode: '+61', areas: australia },
}

/** The time zones of a number's area; `undefined` if its country is not listed or its area unknown. */
export function areaZones(number: string, country: string): readonly string[] | undefined {
  const known = countries[country]
  if (!known || !number.startsWith(known.callingCode)) return undefined
  const national = number.slice(known.callingCode.length)
  for (const [zones, areas] of Object.entries(known.areas)) {
    if (areas.split(' ').some((area) => national.startsWith(area))) return zones.split(' ')
  }
  return undefined
}

/*
 * Emergency numbers. They are not E.164 numbers, but a telephone switch may connect a country calling
 * code that is followed by one. No number that could be one is ever dialled.
 */

/**
 * The codes of all countries: police, fire, ambulance, coast guard, helplines. One set for all
 * countries, because a call to the emergency code of another country is a mistake, too. Sources: ITU-T
 * E.129 and its list of national numbering plans, and the emergency patterns of libphonenumber's
 * short numbers. A code that is missing here and has at most four digits is refused as a short code.
 */
const codes: ReadonlySet<string> = new Set(
  (
    '000 001 002 003 011 022 033 050 060 065 066 068 080 085 088 ' +
    '100 101 102 103 104 105 106 107 108 109 ' +
    '110 111 112 113 114 115 116 117 118 119 ' +
    '120 122 123 124 125 126 127 128 129 130 131 132 133 134 140 141 142 143 144 145 147 ' +
    '150 151 152 153 154 155 156 157 158 159 160 161 166 170 171 172 175 177 180 185 188 ' +
    '190 191 192 193 194 195 196 197 198 199 211 311 333 355 411 511 555 611 666 711 811 819 888 ' +
    '901 902 903 911 912 913 914 915 917 919 922 933 955 977 988 ' +
    '990 991 992 993 994 995 996 997 998 999 ' +
    '1220 1298 1444 1669 1730 2611 9999 10111 10177 90000'
  ).split(' '),
)

/** Whether the digits are exactly an emergency code. */
export const isEmergencyCode = (digits: string): boolean => codes.has(digits)

/**
 * Countries where an area code followed by an emergency code reaches the service of that area, and
 * which libphonenumber takes for an ordinary number: +49 30 110. German exchanges may connect at the
 * last digit of the code, whatever follows; no subscriber number of an area begins with it.
 */
export const codesBehindAreaCode: Readonly<Record<string, RegExp>> = {
  AT: /^1(?:12|22|28|33|4[0-4]|47)$/,
  DE: /^11[02]/,
  IT: /^11[2-8]$/,
  KR: /^11[1-9]$/,
}

/** The first characters of a text; no character is cut in half (surrogate pairs). */
export const firstCharacters = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '')

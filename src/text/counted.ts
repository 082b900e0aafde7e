/** `1 agent`, `2 agents`: for nouns that take an s. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

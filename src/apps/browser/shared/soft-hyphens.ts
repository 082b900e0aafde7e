const vowels = 'aeiouyäöü'
const consonants = 'sch|ch|ph|th|qu|[bcdfghjklmnpqrstvwxzß]'
/** A consonant and a vowel, after the first three letters and before the last two. */
const syllable = new RegExp(`(?<=\\p{L}{3})(${consonants})(?=[${vowels}]\\p{L}{2})`, 'giu')

/**
 * Adds soft hyphens to words of more than `longestWhole` letters, where most European languages
 * begin a syllable. `hyphens: auto` needs the language of the text, and a dictionary that not every
 * browser has.
 */
export const withSoftHyphens = (text: string, longestWhole = 15): string =>
  text.replace(/\p{L}+/gu, (word) =>
    word.length > longestWhole ? word.replace(syllable, '\u00ad$1') : word,
  )

const words = [
  ...['lorem', 'ipsum', 'dolor', 'sit', 'amet', 'consectetur', 'adipiscing', 'elit', 'sed', 'do'],
  ...['eiusmod', 'tempor', 'incididunt', 'ut', 'labore', 'et', 'dolore', 'magna', 'aliqua', 'enim'],
  ...[
    'minim',
    'veniam',
    'quis',
    'nostrud',
    'exercitation',
    'ullamco',
    'laboris',
    'nisi',
    'aliquip',
  ],
]

function randomBelow(limit: number): number {
  return Math.floor(Math.random() * limit)
}

/** One paragraph of `min` to `max` words in sentences of a few words each. */
export function loremIpsum(min: number, max: number): string {
  const count = min + randomBelow(max - min)
  let left = 0
  const text: string[] = []
  for (let index = 0; index < count; index++) {
    const word = words[randomBelow(words.length)] ?? ''
    const starts = left === 0
    if (starts) left = 6 + randomBelow(8)
    left--
    const ends = left === 0 || index === count - 1
    text.push((starts ? word.charAt(0).toUpperCase() + word.slice(1) : word) + (ends ? '.' : ''))
  }
  return text.join(' ')
}

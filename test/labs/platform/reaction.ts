import { oneOf, pick } from '../random.ts'

/** How the platform handles one request. */
export interface Reaction {
  /** When the request takes effect, such as letting a telephone ring. */
  readonly acts: 'now' | 'later' | 'never'
  readonly answer: ReactionAnswer
  /** Time until the reply, ms. */
  readonly answerMs: number
  /** Delay until a late call rings and is listed, as a share (0 to 1) of the maximum delay. */
  readonly lateness: number
}

/** A number is the status of a reply with an error envelope. */
export type ReactionAnswer =
  | 'well'
  | 'not accepted'
  | 'connection lost'
  | 'none'
  | 'cut off'
  | 'page'
  | 'redirect'
  | 'not connected'
  | 408
  | 409
  | 422
  | 429
  | 500
  | 502
  | 504

const answers = {
  certain: [422, 429, 'not connected'],
  uncertain: ['connection lost', 'none', 'cut off', 'page', 'redirect', 408, 409, 500, 502, 504],
} as const satisfies Record<string, readonly ReactionAnswer[]>

/** A random reaction for a request to place a call; most of them are faulty. */
export function faultyPost(random: () => number): Reaction {
  const slowest = [
    { weight: 4, ms: 20 },
    { weight: 2, ms: 2000 },
    { weight: 2, ms: 20_000 },
    { weight: 1, ms: 70_000 },
  ]
  const { ms } = pick(slowest, random)
  const timing = { answerMs: Math.round(random() * ms), lateness: random() }
  const kinds: readonly { weight: number; reaction: () => Pick<Reaction, 'acts' | 'answer'> }[] = [
    { weight: 3, reaction: () => ({ acts: 'now', answer: 'well' }) },
    { weight: 1, reaction: () => ({ acts: 'never', answer: 'not accepted' }) },
    { weight: 2, reaction: () => ({ acts: 'never', answer: oneOf(answers.certain, random) }) },
    { weight: 4, reaction: () => ({ acts: 'now', answer: oneOf(answers.uncertain, random) }) },
    { weight: 4, reaction: () => ({ acts: 'later', answer: oneOf(answers.uncertain, random) }) },
    { weight: 3, reaction: () => ({ acts: 'never', answer: oneOf(answers.uncertain, random) }) },
  ]
  return { ...timing, ...pick(kinds, random).reaction() }
}

/** A random reaction for a read: the share `rate` fails or is slow; `undefined`: it succeeds. */
export function faultyRead(
  random: () => number,
  { rate, slowestMs }: { readonly rate: number; readonly slowestMs: number },
): Reaction | undefined {
  const fault = random() / (rate || 1e-9)
  const reaction = (answer: ReactionAnswer, answerMs = 5): Reaction => ({
    ...{ acts: 'never', lateness: 0 },
    ...{ answer, answerMs },
  })
  if (fault < 0.2) return reaction('connection lost')
  if (fault < 0.4) return reaction(500)
  if (fault < 0.5) return reaction('none')
  return fault < 1 ? reaction('well', random() * slowestMs) : undefined
}

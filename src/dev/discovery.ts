import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'

/*
 * npm run discovery [-- --json]: whether a tool is found from what a person asks for. Clients with
 * many tools search them before they show a model any; this is the plainest such search (BM25 over
 * names, titles and descriptions). The titles were worded with these requests in sight, so their
 * share is a guard against getting worse, and says little of requests nobody has seen: that is what
 * the held-out ones are for, which nothing was worded for and which are shown without a limit.
 */

const Request = z.strictObject({
  request: z.string(),
  tool: z.string(),
  language: z.enum(['en', 'de', 'es']),
})
type Request = z.output<typeof Request>

/** Share of the requests whose tool has to be among the first three. */
export const wantedShare = 0.95

const read = (file: string): readonly Request[] => {
  const text = readFileSync(join(import.meta.dirname, '../../test/dev/discovery', file), 'utf8')
  return z.array(Request).parse(JSON.parse(text))
}

export const requests = read('requests.json')

/**
 * Words of a text, in lower case and without the commonest endings of the languages asked in:
 * agents, agente → agent; creates, crear, crea → cre.
 */
function words(text: string): string[] {
  const found = text.toLowerCase().match(/\p{L}+/gu) ?? []
  return found.map((word) =>
    word.length > 3
      ? word
          .replace(/(ates|ating|ate|ing|ies|os|as|ar|es|en|ed|[aeosny])$/, '')
          .replace(/([^aeiou])\1$/, '$1')
      : word,
  )
}

/** The usual parameters of BM25: how soon repetition and length stop to count. */
const k1 = 1.2
const b = 0.75

interface Indexed {
  readonly name: string
  readonly words: readonly string[]
}

const index: readonly Indexed[] = tools.map(({ name, title, description }) => ({
  name,
  words: words(`${name.replaceAll('_', ' ')} ${title} ${description}`),
}))
const averageLength = index.reduce((sum, tool) => sum + tool.words.length, 0) / index.length

/** All tools, the likeliest for a request first. */
export function ranked(request: string): string[] {
  const asked = new Set(words(request))
  return index
    .map((tool) => ({ name: tool.name, score: scoreOf(tool, asked) }))
    .sort((one, other) => other.score - one.score)
    .map(({ name }) => name)
}

function scoreOf(tool: Indexed, asked: ReadonlySet<string>): number {
  let score = 0
  for (const word of asked) {
    const count = tool.words.filter((one) => one === word).length
    if (count === 0) continue
    const holders = index.filter((one) => one.words.includes(word)).length
    const rarity = Math.log(1 + (index.length - holders + 0.5) / (holders + 0.5))
    const length = 1 - b + b * (tool.words.length / averageLength)
    score += (rarity * count * (k1 + 1)) / (count + k1 * length)
  }
  return score
}

/** The place of each request's tool, from 0. */
export const places = (asked: readonly Request[] = requests) =>
  asked.map((one) => {
    const order = ranked(one.request)
    return { ...one, place: order.indexOf(one.tool), first: order.slice(0, 3) }
  })

export const shareWithin = (most: number, found: readonly { place: number }[]) =>
  found.filter(({ place }) => place >= 0 && place < most).length / found.length

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function main(): void {
  const found = places()
  const missed = found.filter(({ place }) => place < 0 || place > 2)
  const share = shareWithin(3, found)
  const heldOut = places(read('held-out.json'))
  if (process.argv.includes('--json')) {
    console.log(
      JSON.stringify(
        {
          requests: found.length,
          top3: share,
          top1: shareWithin(1, found),
          heldOutTop3: shareWithin(3, heldOut),
          missed,
        },
        null,
        2,
      ),
    )
  } else {
    for (const { request, tool, place, first } of missed) {
      console.log(`${tool} is at ${place + 1} for "${request}"; first: ${first.join(', ')}`)
    }
    for (const language of ['en', 'de', 'es'] as const) {
      const own = found.filter((one) => one.language === language)
      console.log(`${language}: ${percent(shareWithin(3, own))} of ${own.length}`)
    }
    console.log(
      `${percent(share)} of ${found.length} in the first three, ${percent(shareWithin(1, found))} first`,
    )
    console.log(`${percent(shareWithin(3, heldOut))} of ${heldOut.length} held out`)
  }
  if (share < wantedShare) process.exitCode = 1
}

if (import.meta.main) main()

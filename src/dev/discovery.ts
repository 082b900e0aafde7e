import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'

/*
 * npm run discovery [-- --json]: whether a text search finds the right tool for a person's request.
 * Clients with many tools search them before they show a model any. The titles are worded with the
 * requests of requests.json known, and what is missed of them is shown. Those of held-out.json were
 * written before, and only their share is shown: no title is worded for one of them.
 */

const Request = z.strictObject({
  request: z.string(),
  tool: z.string(),
  language: z.enum(['en', 'de', 'es']),
})
type Request = z.output<typeof Request>

/** A request, and the place of its tool among the tools found, from 0; -1 when it is not found. */
interface Found extends Request {
  readonly place: number
  /** The first three tools found. */
  readonly first: readonly string[]
}

/** Least share of the requests whose tool is among the first three. */
export const leastShare = 0.95
/** The same of the held-out requests. */
export const leastHeldOutShare = 0.85

const requestsIn = (file: string): readonly Request[] => {
  const text = readFileSync(join(import.meta.dirname, '../../test/dev/discovery', file), 'utf8')
  return z.array(Request).parse(JSON.parse(text))
}

export const requests = requestsIn('requests.json')
export const heldOutRequests = requestsIn('held-out.json')

/**
 * A word in lower case, without the commonest endings of the three languages of the requests:
 * agents, agente → agent; creates, crear, crea → cre.
 */
function stem(word: string): string {
  const lower = word.toLowerCase()
  if (lower.length <= 3) return lower
  return lower
    .replace(/(ates|ating|ate|ing|ies|os|as|ar|es|en|ed|[aeosny])$/, '')
    .replace(/([^aeiou])\1$/, '$1')
}

/** Words that search engines leave out of an English text: the function words of Snowball's list. */
const functionWords = new Set(
  `i me my myself we us our ours ourselves you your yours he him his she her hers it its they them their
  theirs what which who whom this that these those am is are was were be been being have has had having do
  does did doing would should could ought cannot a an the and but if or because as until while of at by
  for with about against between into through during before after above below to from in out on off over
  under again further then once here there when where why how all any both each few more most other some
  such no nor not only own same so than too very`.split(/\s+/),
)

const index = new MiniSearch({
  idField: 'name',
  fields: ['words', 'title', 'description'],
  tokenize: (text) => text.match(/\p{L}+/gu) ?? [],
  processTerm: (term) => (functionWords.has(term.toLowerCase()) ? null : stem(term)),
  searchOptions: { boost: { words: 2, title: 2 } },
})
index.addAll(
  tools.map(({ name, title, description }) => ({
    name,
    words: name.replaceAll('_', ' '),
    title,
    description,
  })),
)

/** Searches the tools for each request. */
export const findTools = (asked: readonly Request[] = requests): Found[] =>
  asked.map((one) => {
    const names = index.search(one.request).map(({ id }) => String(id))
    return { ...one, place: names.indexOf(one.tool), first: names.slice(0, 3) }
  })

/** The share of the requests whose tool is among the first `most`. */
export const shareWithin = (most: number, found: readonly { place: number }[]) =>
  found.filter(({ place }) => place >= 0 && place < most).length / found.length

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function printReport(found: readonly Found[], heldOut: readonly Found[]): void {
  for (const { request, tool, first } of missedOf(found)) {
    console.log(`${tool} is not among the first three for "${request}": ${first.join(', ')}`)
  }
  for (const language of ['en', 'de', 'es'] as const) {
    const own = found.filter((one) => one.language === language)
    console.log(`${language}: ${percent(shareWithin(3, own))} of ${own.length}`)
  }
  const [top3, top1] = [shareWithin(3, found), shareWithin(1, found)].map(percent)
  console.log(`${top3} of ${found.length} in the first three, ${top1} first`)
  console.log(`${percent(shareWithin(3, heldOut))} of ${heldOut.length} held-out requests`)
}

const missedOf = (found: readonly Found[]) => found.filter(({ place }) => place < 0 || place > 2)

if (import.meta.main) {
  const found = findTools()
  const heldOut = findTools(heldOutRequests)
  const report = {
    requests: found.length,
    top3: shareWithin(3, found),
    top1: shareWithin(1, found),
    heldOutTop3: shareWithin(3, heldOut),
    missed: missedOf(found),
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(report, null, 2))
  else printReport(found, heldOut)
  if (report.top3 < leastShare || report.heldOutTop3 < leastHeldOutShare) process.exitCode = 1
}

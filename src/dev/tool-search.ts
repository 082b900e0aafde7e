import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'

/*
 * npm run discovery: reports whether a text search finds the right tool for a person's request.
 * Clients with many tools search them before they show any to a model. A miss is no failure: titles
 * and descriptions are written for people and models, not for this search.
 */

const Request = z.strictObject({
  request: z.string(),
  tool: z.string(),
  language: z.enum(['en', 'de', 'es']),
})
/** A request, and the first three tools found. */
interface Found extends z.output<typeof Request> {
  readonly first: readonly string[]
}

const file = join(import.meta.dirname, '../../test/dev/tool-search/requests.json')
export const requests = z.array(Request).parse(JSON.parse(readFileSync(file, 'utf8')))

/**
 * Lower-case stem of a word, without the commonest endings of the requests' three languages:
 * agents, agente → agent; creates, crear, crea → cre.
 */
function stem(word: string): string {
  const lower = word.toLowerCase()
  if (lower.length <= 3) return lower
  return lower
    .replace(/(ates|ating|ate|ing|ies|os|as|ar|es|en|ed|[aeosny])$/, '')
    .replace(/([^aeiou])\1$/, '$1')
}

/** English stop words: the function words of Snowball's list. */
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
const findTools = (): Found[] =>
  requests.map((one) => {
    const names = index.search(one.request).map(({ id }) => String(id))
    return { ...one, first: names.slice(0, 3) }
  })

/** Share of the requests whose tool is among the first `max` results. */
const shareWithin = (max: number, found: readonly Found[]) => {
  const right = found.filter(({ tool, first }) => first.slice(0, max).includes(tool))
  return `${((right.length / found.length) * 100).toFixed(1)} %`
}

if (import.meta.main) {
  const found = findTools()
  for (const { request, tool, first } of found.filter(({ tool, first }) => !first.includes(tool)))
    console.log(`${tool} is not among the first three for "${request}": ${first.join(', ')}`)
  for (const language of ['en', 'de', 'es']) {
    const own = found.filter((one) => one.language === language)
    console.log(`${language}: ${shareWithin(3, own)} of ${own.length}`)
  }
  console.log(
    `${shareWithin(3, found)} of ${found.length} in the first three, ${shareWithin(1, found)} first`,
  )
}

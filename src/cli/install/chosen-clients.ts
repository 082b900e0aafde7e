import { type Client, clients } from './clients.ts'
import { UsageError } from './usage-error.ts'

/** The known word that a mistyped one most likely means. */
export type ClosestWord = (word: string, known: readonly string[]) => string | undefined

/** The clients that are named. Throws UsageError for a name that is of none. */
export const namedClients = (names: readonly string[], closestWord: ClosestWord): Client[] => [
  ...new Set(names.map((name) => clientNamed(name, closestWord))),
]

function clientNamed(name: string, closestWord: ClosestWord): Client {
  const found = clients.find(({ id, title }) => [id, title].some((one) => fold(one) === fold(name)))
  if (found) return found
  const ids = clients.map(({ id }) => id)
  const meant = closestWord(name, ids)
  const hint = meant === undefined ? '' : ` Is ${meant} meant?`
  throw new UsageError(
    `There is no client ${JSON.stringify(name.slice(0, 64))}.${hint} There are ${ids.join(', ')}.`,
    'usage',
  )
}

/** "VS Code", `vs-code` and `vscode` are one name. */
const fold = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')

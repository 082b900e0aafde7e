import { join } from 'node:path'
import * as z from 'zod'
import { importInstalled } from '../../test/harness/install-once.ts'
import { tools } from '../../tools/index.ts'

/*
 * npm run tokens [-- --json]: size of the tool catalogue by tool, in tokens of o200k; other models'
 * counts differ by a few percent. Fails over budget.
 */

/** Folder of gpt-tokenizer (30 MB), which a plain `npm ci` does not install. */
const folder = join(import.meta.dirname, '../../test/dev/tokens')
const { encode } = z
  .object({
    encode: z.custom<(text: string) => readonly number[]>((value) => typeof value === 'function'),
  })
  .parse(await importInstalled(folder, 'gpt-tokenizer/encoding/o200k_base'))

/** Number of tokens of a text, or of a value as JSON. */
export const tokensOf = (value: unknown): number =>
  encode(typeof value === 'string' ? value : JSON.stringify(value)).length

/** Maximum tokens of all tools together. */
export const catalogueBudget = 7000
/** Maximum tokens of one tool. */
export const toolBudget = 1120
/** Maximum tokens of the whole tools/list result, which some clients pass to the model. */
export const listingBudget = 11_600

export interface ToolTokens {
  readonly name: string
  /** Tokens that most clients show a model: name, description, input schema. */
  readonly tokens: number
  /** Tokens of the whole definition: also title, output schema, annotations. */
  readonly listed: number
}

/** Tokens of each tool, largest first. */
export function catalogueTokens(): ToolTokens[] {
  return tools
    .map((tool) => {
      const listed = tool.listed('any')
      const { name, description, inputSchema } = listed
      const tokens = tokensOf({ name, description, inputSchema })
      return { name, tokens, listed: tokensOf(listed) }
    })
    .sort((a, b) => b.tokens - a.tokens)
}

export const sum = (rows: readonly ToolTokens[], column: 'tokens' | 'listed' = 'tokens') =>
  rows.reduce((total, row) => total + row[column], 0)

/** Exceeded budgets, in words. */
function excesses(rows: readonly ToolTokens[]): string[] {
  const [total, listed] = [sum(rows), sum(rows, 'listed')]
  return [
    ...rows
      .filter(({ tokens }) => tokens > toolBudget)
      .map(({ name, tokens }) => `${name}: ${tokens} of ${toolBudget} tokens`),
    total >= catalogueBudget && `The catalogue is over its budget by ${total - catalogueBudget}`,
    listed > listingBudget && `The listing is over its budget by ${listed - listingBudget}`,
  ].filter((text) => text !== false)
}

function main(): void {
  const rows = catalogueTokens()
  const [total, listed] = [sum(rows), sum(rows, 'listed')]
  const budgets = { budget: catalogueBudget, toolBudget, listingBudget }
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ total, listed, ...budgets, tools: rows }, null, 2))
  } else {
    for (const row of rows) console.log(`${columns(row.tokens, row.listed)}  ${row.name}`)
    console.log(`${columns(total, listed)}  in all, ${rows.length} tools`)
    console.log(`${columns(catalogueBudget, listingBudget)}  at most`)
    console.log(
      'The second column is all that tools/list returns: also titles, output schemas, hints.',
    )
  }
  for (const excess of excesses(rows)) {
    console.error(excess)
    process.exitCode = 1
  }
}

const columns = (...counts: number[]) => counts.map((count) => String(count).padStart(6)).join('')

if (import.meta.main) main()

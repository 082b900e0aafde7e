import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { tools } from '../../tools/index.ts'

/*
 * npm run tokens [-- --json]: how many tokens the tool catalogue takes, by tool, in tokens of o200k;
 * counts of other models differ by a few percent. Fails when it is over budget.
 */

/** Most tokens of all tools together, and of one tool. */
export const catalogueBudget = 6400
export const toolBudget = 1100

/** Tokens of what a model sees of each tool (name, description, input schema), the most first. */
export function catalogueTokens(): { name: string; tokens: number }[] {
  return tools
    .map((tool) => {
      const { name, description, inputSchema } = tool.listed('any')
      return { name, tokens: encode(JSON.stringify({ name, description, inputSchema })).length }
    })
    .sort((a, b) => b.tokens - a.tokens)
}

export const sum = (rows: readonly { tokens: number }[]) =>
  rows.reduce((total, { tokens }) => total + tokens, 0)

function main(): void {
  const rows = catalogueTokens()
  const total = sum(rows)
  const over = rows.filter(({ tokens }) => tokens > toolBudget)
  if (process.argv.includes('--json')) {
    console.log(
      JSON.stringify({ total, budget: catalogueBudget, toolBudget, tools: rows }, null, 2),
    )
  } else {
    for (const { name, tokens } of rows) console.log(`${String(tokens).padStart(5)}  ${name}`)
    console.log(`${String(total).padStart(5)}  of ${catalogueBudget} in all, ${rows.length} tools`)
  }
  for (const { name, tokens } of over) console.error(`${name}: ${tokens} of ${toolBudget} tokens`)
  if (total >= catalogueBudget)
    console.error(`The catalogue is over its budget by ${total - catalogueBudget}`)
  if (over.length > 0 || total >= catalogueBudget) process.exitCode = 1
}

if (import.meta.main) main()

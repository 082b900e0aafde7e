import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import { type JsonSchema, jsonSchemaOf } from '../../contract/json-schema.ts'
import { annotationsOf } from './annotations.ts'
import { listedOutputSchema } from './listed-output-schema.ts'
import { accountArguments, type ListingDetail, listedSchema } from './listed-schema.ts'
import type { Tool } from './tool.ts'

type ToolFacts = Pick<Tool, 'name' | 'title' | 'description' | 'route' | 'effect' | 'output'> & {
  readonly inputSchema: JsonSchema
}

/** A tool as `tools/list` shows it; `pinned`: callers cannot choose the account. */
export function listedTool(
  { name, title, description, route, effect, inputSchema, output }: ToolFacts,
  account: 'any' | 'pinned',
  detail: ListingDetail = {},
): ProtocolTool {
  return {
    name,
    title,
    description: account === 'any' ? description : withoutAccountSentences(description),
    inputSchema: objectSchema(listedSchema(inputSchema, account, detail)),
    outputSchema: objectSchema(listedOutputSchema(jsonSchemaOf(output, 'output'))),
    annotations: annotationsOf(route, effect),
  }
}

/** Sentences about choosing accounts are left out where there is no choice. */
const withoutAccountSentences = (description: string) =>
  description
    .split(/(?<=\.) /)
    .filter((sentence) => !accountArguments.some((name) => sentence.includes(name)))
    .join(' ')

/** zod's type for a JSON Schema allows for more than JSON; what zod makes is JSON. */
function objectSchema(schema: JsonSchema): ProtocolTool['inputSchema'] {
  return { ...(schema as ProtocolTool['inputSchema']), type: 'object' }
}

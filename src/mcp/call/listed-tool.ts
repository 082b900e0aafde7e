import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type JsonSchema, jsonSchemaOf } from '../../contract/json-schema.ts'
import type { Route } from '../../contract/route.ts'
import { annotationsOf } from './annotations.ts'
import { type ListingDetail, listedSchema } from './listed-schema.ts'
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
  const isAny = account === 'any'
  return {
    name,
    title,
    description: isAny ? description : withoutAccountSentences(description),
    inputSchema: objectSchema(listedSchema(inputSchema, account, detail)),
    outputSchema: objectSchema(
      jsonSchemaOf(isAny ? withAccountId(output, route) : output, 'output'),
    ),
    annotations: annotationsOf(title, route, effect),
  }
}

/** Sentences about choosing an account are left out where there is no choice. */
const withoutAccountSentences = (description: string) =>
  description
    .split(/(?<=\.) /)
    .filter((sentence) => !sentence.includes('account_id'))
    .join(' ')

/** Every result that belongs to an account names it. */
function withAccountId(schema: z.ZodObject, route: Route): z.ZodObject {
  if (!('account_id' in route.params.shape) || 'account_id' in schema.shape) return schema
  return schema.extend({ account_id: z.string().optional().describe('Account it belongs to.') })
}

/** zod's type for a JSON Schema allows for more than JSON; what zod makes is JSON. */
function objectSchema(schema: JsonSchema): ProtocolTool['inputSchema'] {
  return { ...(schema as ProtocolTool['inputSchema']), type: 'object' }
}

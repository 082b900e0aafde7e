import type { Prompt as ProtocolPrompt } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import type { Words } from '../text/safe-text.ts'
import type { Attachment } from './attachment.ts'
import type { Sources } from './sources.ts'

/** What a prompt says, and what it brings along. */
export interface Prepared {
  readonly text: Words
  readonly attachments: readonly Attachment[]
}

/** What a prompt file says about a prompt. */
export interface PromptSpec<A extends z.ZodRawShape> {
  /** `verb_noun`, as tools are named. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** What it is about: without a tool that reads that there is no such prompt. */
  readonly needs?: Route
  /** Each parses a text: the protocol has no other arguments here. */
  readonly arguments: A
  readonly prepare: (args: z.output<z.ZodObject<A>>, sources: Sources) => Promise<Prepared>
}

/** One prompt: a task in words, with what has to be known for it. */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly needs: Route | undefined
  readonly input: z.ZodObject
  /** The prompt as `prompts/list` shows it; `pinned` where the account is not the caller's to name. */
  readonly listed: (account: 'any' | 'pinned') => ProtocolPrompt
  readonly prepare: (args: Record<string, unknown>, sources: Sources) => Promise<Prepared>
}

/** Every prompt takes it, last, because it is rarely given. */
const account_id = z
  .string()
  .optional()
  .describe("Account or subaccount id. Default: the API key's own account.")

/** Makes a prompt from its record. */
export function definePrompt<A extends z.ZodRawShape>(spec: PromptSpec<A>): Prompt {
  const { name, title, description, needs, prepare } = spec
  const own = z.object(spec.arguments)
  const input: z.ZodObject = z.object({ ...own.shape, account_id })
  return {
    name,
    title,
    description,
    needs,
    input,
    listed: (account) => ({
      name,
      title,
      description,
      arguments: Object.entries<z.ZodType>(input.shape)
        .filter(([argument]) => account === 'any' || argument !== 'account_id')
        .map(([argument, field]) => ({
          name: argument,
          description: descriptionOf(field),
          required: !(field instanceof z.ZodOptional),
        })),
    }),
    // They were parsed with the schema above, of which these are a part.
    prepare: (args, sources) => prepare(args as z.output<typeof own>, sources),
  }
}

/** An optional field is described by itself or by what it makes optional. */
function descriptionOf(field: z.ZodType): string {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field
  return field.description ?? (inner instanceof z.ZodType ? inner.description : undefined) ?? ''
}

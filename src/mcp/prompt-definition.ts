import type { Prompt as ProtocolPrompt } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import type { SafeText } from '../text/safe-text.ts'
import { accountIds, type CompletionSource } from './completions.ts'
import type { PromptReader } from './prompt-reader.ts'

/** Data that a prompt embeds as a resource, or one line with the reason why it is missing. */
export type Attachment =
  | {
      readonly what: string
      readonly uri: string
      readonly mimeType: string
      readonly text: string
    }
  | { readonly what: string; readonly missing: string }

/** Content of a prompt's messages: the task, then the attached data. */
export interface PromptContent {
  readonly text: SafeText
  readonly attachments: readonly Attachment[]
}

/** One argument of a prompt. The protocol sends every argument as a string. */
export interface PromptArgument<T extends z.ZodType = z.ZodType> {
  /** Parses the text; its description is what clients show. */
  readonly schema: T
  /** The values that `completion/complete` offers; absent for free text. */
  readonly completion?: CompletionSource
}

type ArgumentRecord = Readonly<Record<string, PromptArgument>>

type SchemasOf<A extends ArgumentRecord> = { [Name in keyof A]: A[Name]['schema'] }

/** A prompt as written in src/prompts. */
interface PromptSpec<A extends ArgumentRecord> {
  /** `verb_noun`, as tools are named. */
  readonly name: string
  readonly title: string
  readonly description: string
  /**
   * Route that reads the subject of the prompt. The prompt is listed only if an exposed tool uses
   * the same route.
   */
  readonly requires?: Route
  readonly arguments: A
  readonly prepare: (
    args: z.output<z.ZodObject<SchemasOf<A>>>,
    reader: PromptReader,
  ) => Promise<PromptContent>
}

/** One prompt: a task in words, with the data that it needs. */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly requires: Route | undefined
  /** Parses all arguments. */
  readonly input: z.ZodObject
  readonly completions: Readonly<Record<string, CompletionSource | undefined>>
  /** The prompt as `prompts/list` shows it; `pinned`: without `account_id`. */
  readonly listed: (account: 'any' | 'pinned') => ProtocolPrompt
  readonly prepare: (args: Record<string, unknown>, reader: PromptReader) => Promise<PromptContent>
}

/** Every prompt takes this argument, as its last, because it is rarely given. */
const accountArgument: PromptArgument = {
  schema: z
    .string()
    .optional()
    .describe("Account or subaccount id. Default: the API key's own account."),
  completion: accountIds,
}

export function definePrompt<A extends ArgumentRecord>(spec: PromptSpec<A>): Prompt {
  const { name, title, description, requires, prepare } = spec
  const all: ArgumentRecord = { ...spec.arguments, account_id: accountArgument }
  const input = z.object(eachArgument(all, ({ schema }) => schema))
  return {
    name,
    title,
    description,
    requires,
    input,
    completions: eachArgument(all, ({ completion }) => completion),
    listed: (account) => ({
      name,
      title,
      description,
      arguments: Object.entries(all)
        .filter(([argument]) => account === 'any' || argument !== 'account_id')
        .map(([argument, { schema }]) => ({
          name: argument,
          description: descriptionOf(schema),
          required: !(schema instanceof z.ZodOptional),
        })),
    }),
    // Safe: `input`, which is built from the same schemas, has parsed the arguments.
    prepare: (args, reader) => prepare(args as z.output<z.ZodObject<SchemasOf<A>>>, reader),
  }
}

const eachArgument = <T>(
  all: ArgumentRecord,
  pick: (argument: PromptArgument) => T,
): Record<string, T> =>
  Object.fromEntries(Object.entries(all).map(([name, argument]) => [name, pick(argument)]))

/** The description of a field, or of the schema that an optional field wraps. */
function descriptionOf(field: z.ZodType): string {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field
  return field.description ?? (inner instanceof z.ZodType ? inner.description : undefined) ?? ''
}

import { ok } from 'node:assert/strict'
import * as z from 'zod'
import type { TestClient } from '../../../harness/client.ts'
import { type Effort, noEffort, sumOf } from '../effort.ts'

const Named = z.looseObject({ id: z.string(), name: z.string() })

/**
 * An agent, number, call, conversation, voice or model in a list, with only the fields used here.
 */
const Item = z.looseObject({
  id: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  provider: z.string().optional(),
  pricing: z.looseObject({ additional_cost_per_minute: z.number() }).optional(),
  account: Named.optional(),
  number: z.string().optional(),
  friendly_name: z.string().optional(),
  answer_status: z.string().optional(),
  to_number: z.string().optional(),
  contact_number: z.string().optional(),
  agent_name: z.string().optional(),
  start_timestamp: z.string().optional(),
})
type Item = z.output<typeof Item>

const List = z.looseObject({
  items: z.array(Item).optional(),
  voices: z.array(Item).optional(),
  models: z.array(Item).optional(),
})

/**
 * A scripted assistant for reference solutions. Like a model, it sees only the texts of results.
 * Its effort is counted like that in the log of a model's run.
 */
export class Assistant {
  readonly #client: TestClient
  effort: Effort = noEffort

  constructor(client: TestClient) {
    this.#client = client
  }

  /** Calls a tool and returns the text of its result. Throws if the tool fails. */
  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content, isError = false } = await this.#client.call(name, args)
    const text = content.map((part) => part.text).join('\n')
    const call = { calls: 1, errors: Number(isError), in: JSON.stringify(args).length }
    this.effort = sumOf([this.effort, { ...call, out: text.length }])
    ok(!isError, text)
    return text
  }

  /** Calls a tool whose text is a JSON list, and returns the list. */
  async list(name: string, args: Record<string, unknown>): Promise<readonly Item[]> {
    const { items, voices, models } = List.parse(JSON.parse(await this.text(name, args)))
    return items ?? voices ?? models ?? []
  }

  /** Calls a tool that asks for confirmation, and confirms. */
  async agreed(name: string, args: Record<string, unknown>): Promise<string> {
    return this.text(name, { ...args, confirm_token: tokenIn(await this.text(name, args)) })
  }
}

/** The confirmation token in a preview. */
export function tokenIn(preview: string): string {
  const [, token] = /^confirm_token: (\S+)$/m.exec(preview) ?? []
  ok(token, `It does not ask first: ${preview}`)
  return token
}

/** Reference solution of a job, with as few tool calls as possible. Returns the answer. */
export type Solution = (assistant: Assistant) => Promise<string>

/** The calls to place to these people. `people`: telephone numbers by first name. */
export const callsTo = (people: Readonly<Record<string, string>>) =>
  Object.entries(people).map(([first_name, to_number]) => ({
    to_number,
    test_variables: { contact: { first_name } },
  }))

/** Outcome of a call in a list result: "not answered: +12025550103". */
export function outcomeOf(number: string, text: string): string {
  const line = text.split('\n').find((one) => one.includes(number))
  ok(line, text)
  return line.slice(0, line.indexOf(':'))
}

/** Whole days in UTC, as arguments of a tool. */
export const days = (first: string, after: string) => ({
  created_after: `${first}T00:00:00Z`,
  created_before: `${after}T00:00:00Z`,
})

export const lastWeek = days('2026-11-09', '2026-11-16')

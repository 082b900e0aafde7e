import { ok } from 'node:assert/strict'
import * as z from 'zod'
import type { TestClient } from '../../../harness/client.ts'
import { type Effort, noEffort, sumOf } from '../log.ts'

/**
 * An assistant that knows the shortest way through a job. It sees what a model sees: the texts of
 * results. Its effort is counted as the log of a model's run counts it.
 */
export class Assistant {
  readonly #client: TestClient
  effort: Effort = noEffort

  constructor(client: TestClient) {
    this.#client = client
  }

  /** Calls a tool and gives the text of its result. Throws when the tool fails. */
  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content, isError = false } = await this.#client.call(name, args)
    const text = content.map((part) => part.text).join('\n')
    const call = { calls: 1, errors: Number(isError), in: JSON.stringify(args).length }
    this.effort = sumOf([this.effort, { ...call, out: text.length }])
    ok(!isError, text)
    return text
  }

  /** The same for a result that is written as JSON. */
  async read<T extends z.ZodType>(
    schema: T,
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<z.output<T>> {
    return schema.parse(JSON.parse(await this.text(name, args)))
  }

  /** Calls a tool that asks first, and agrees to what it shows. */
  async agreed(name: string, args: Record<string, unknown>): Promise<string> {
    const preview = await this.text(name, args)
    const [, confirm_token] = /^confirm_token: (\S+)$/m.exec(preview) ?? []
    ok(confirm_token, `${name} does not ask first: ${preview}`)
    return this.text(name, { ...args, confirm_token })
  }
}

/** The shortest way through a job; gives the answer. */
export type Way = (assistant: Assistant) => Promise<string>

/*
 * What the ways read out of results: only the fields that they use.
 */

const Named = z.looseObject({ id: z.string(), name: z.string() })

export const Agents = z.looseObject({
  items: z.array(
    Named.extend({
      tags: z.array(z.string()),
      account: Named.optional(),
    }),
  ),
})

export const Numbers = z.looseObject({
  items: z.array(
    z.looseObject({
      number: z.string(),
      friendly_name: z.string(),
      sip_trunk: Named.optional(),
      inbound_agent: Named.optional(),
      account: Named.optional(),
    }),
  ),
})

export const Voices = z.looseObject({
  voices: z.array(Named.extend({ provider: z.string(), description: z.string() })),
})

export const Calls = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      answer_status: z.string(),
      to_number: z.string(),
      agent_name: z.string(),
      created: z.string(),
    }),
  ),
})

export const Conversations = z.looseObject({
  items: z.array(
    z.looseObject({
      start_timestamp: z.string(),
      agent_name: z.string(),
      contact_number: z.string().optional(),
    }),
  ),
})

export const CallCounts = z.looseObject({ by_answer_status: z.record(z.string(), z.int()) })

export const Models = z.looseObject({
  models: z.array(
    Named.extend({
      provider: z.string(),
      pricing: z.looseObject({ additional_cost_per_minute: z.number() }).optional(),
    }),
  ),
})

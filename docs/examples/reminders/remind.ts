import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'

/*
 * Calls the people in appointments.json one after the other, waits until each call has ended, and
 * acts on how it ended. It runs unattended, from cron for example: `node remind.ts FOLDER`. The
 * folder has appointments.json and dial-policy.json, and gets outcomes.json.
 *
 * It may be ended and started again at any time: each try has an external_id of its own, and the
 * server places a call with the same external_id only once.
 */

const folder = process.argv[2] ?? '.'
const maxTries = 3
/** The agent "Appointment reminders" and the main line of the sandbox; put yours here. */
const agent = '00000000-0000-4000-8002-000000000002'
const line = '+12025550110'

const Appointments = z.array(
  z.object({ id: z.string(), first_name: z.string(), phone: z.string() }),
)
/** What is known of an appointment. `open`: the try is to be made, or its outcome to be found out. */
const Outcome = z.object({
  state: z.enum(['open', 'reached', 'needs a person']),
  attempt: z.int(),
  note: z.string(),
})
type Outcome = z.output<typeof Outcome>
/** What voice-agent-mcp says about an error, for programs (docs/errors.md). */
const ToolError = z.looseObject({ kind: z.string(), retryable: z.boolean() })
const Call = z.looseObject({
  id: z.string(),
  ended: z.boolean().optional(),
  status: z.string().nullish(),
  answer_status: z.string().nullish(),
})

/** In a clone, after npm ci and npm run build. */
const program = join(import.meta.dirname, '../../../dist/voice-agent-mcp.js')
const client = new Client({ name: 'reminders', version: '1.0.0' })
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [
      program,
      // No person is there to confirm calls, so the dial policy says which ones are allowed, and
      // nothing but these two tools can be used.
      ...['--confirm', 'never', '--dial-policy', join(folder, 'dial-policy.json')],
      ...['--tools', 'place_call,wait_for_call', '--log-level', 'warn'],
    ],
    env: z.record(z.string(), z.string()).parse({ ...process.env }),
  }),
)

/** Calls a tool; gives its result, or what the server says about the failure. */
async function use(name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args })
  if (!result.isError) return { call: Call.parse(result.structuredContent) }
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return { text, error: ToolError.parse(result._meta?.['voice-agent-mcp/error']) }
}

/** Makes one try, and waits until the call has ended. */
async function remind(
  { id, first_name, phone }: z.output<typeof Appointments>[number],
  attempt: number,
): Promise<Outcome> {
  let answer = await use('place_call', {
    type: 'phone',
    agent_id: agent,
    from_number: line,
    to_number: phone,
    external_id: `reminder-${id}-${attempt}`,
    test_variables: { contact: { first_name } },
  })
  while (answer.call && !answer.call.ended) {
    answer = await use('wait_for_call', { call_id: answer.call.id, timeout_seconds: 50 })
  }
  if (answer.call) return outcomeOf(answer.call, attempt)
  const { kind, retryable } = answer.error
  // Made again with the same external_id, so a call that was placed after all is found.
  const isOpen = retryable || kind === 'unknown_outcome'
  return { state: isOpen ? 'open' : 'needs a person', attempt, note: answer.text }
}

/** What to do now that the call has ended. */
function outcomeOf(call: z.output<typeof Call>, attempt: number): Outcome {
  const { status, answer_status } = call
  const note = `${status}, ${answer_status}`
  if (status !== 'failed' && answer_status === 'human') return { state: 'reached', attempt, note }
  const mayAnswerLater = ['machine', 'user_busy', 'user_unavailable'].includes(answer_status ?? '')
  return mayAnswerLater && attempt < maxTries
    ? { state: 'open', attempt: attempt + 1, note }
    : { state: 'needs a person', attempt, note }
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))
const saved = join(folder, 'outcomes.json')
const outcomes = z.record(z.string(), Outcome).parse(existsSync(saved) ? read('outcomes.json') : {})
try {
  for (const appointment of Appointments.parse(read('appointments.json'))) {
    const before = outcomes[appointment.id] ?? { state: 'open', attempt: 1 }
    if (before.state !== 'open') continue
    const outcome = await remind(appointment, before.attempt)
    outcomes[appointment.id] = outcome
    // Saved after each call, as a whole or not at all.
    writeFileSync(`${saved}.new`, `${JSON.stringify(outcomes, null, 2)}\n`)
    renameSync(`${saved}.new`, saved)
    console.log(`${appointment.id} ${appointment.first_name}: ${outcome.state} (${outcome.note})`)
  }
} finally {
  await client.close()
}
if (Object.values(outcomes).some(({ state }) => state === 'needs a person')) process.exitCode = 1

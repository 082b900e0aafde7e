import { join } from 'node:path'
import { styleText } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'
import { safeLine, safeText } from '../text/safe-text.ts'

/*
 * npm run demo: a session of a real MCP client with the built program and its sandbox, from the
 * account to the usage, printed step by step. The sandbox is in memory, so runs differ only in ids.
 * The numbers are reserved for fiction by Ofcom.
 */

/** Speed of simulated calls relative to real ones. */
const speed = 60

const bin = join(import.meta.dirname, '../../dist/voice-agent-mcp.js')
const client = new Client(
  { name: 'demo', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
)
// The server asks a person to confirm a call; the demo answers instead.
client.setRequestHandler('elicitation/create', ({ params }) => {
  for (const line of params.message.split('\n')) show(`  ${styleText('cyan', safeLine(line))}`)
  show('  A person is asked this. Here the demo answers yes.')
  return { action: 'accept', content: { confirm: true } }
})
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [bin, '--sandbox-db', ':memory:', '--sandbox-speed', String(speed)],
  stderr: 'ignore',
})

const Text = z.looseObject({ text: z.string() })
const Id = z.looseObject({ id: z.string() })
const Voices = z.looseObject({
  voices: z.array(z.looseObject({ id: z.string(), name: z.string(), description: z.string() })),
})
const Trunks = z.looseObject({
  items: z.array(Id.extend({ name: z.string(), termination_uri: z.string().nullable() })),
})
const Ended = z.looseObject({
  status: z.string(),
  answer_status: z.string(),
  duration_seconds: z.number(),
  transcript: z.looseObject({
    spoken: z.array(z.looseObject({ role: z.string(), message: z.string() })),
  }),
})
const Usage = z.looseObject({
  names: z.looseObject({ agent: z.record(z.string(), z.string()) }),
  data: z.array(
    z.looseObject({
      values: z.array(
        z.looseObject({
          seconds: z.number(),
          conversations: z.number(),
          dimensions: z.looseObject({ agent: z.string() }),
        }),
      ),
    }),
  ),
})

let step = 0

function heading(title: string): void {
  step += 1
  process.stdout.write(`\n${styleText('bold', `${step}. ${title}`)}\n`)
}

function show(text: string): void {
  process.stdout.write(`   ${text}\n`)
}

const counted = (conversations: number) =>
  `${conversations} ${conversations === 1 ? 'conversation' : 'conversations'}`

/** Calls a tool, prints the call, and returns its parsed result. */
async function call<T extends z.ZodType>(
  schema: T,
  name: string,
  args: Record<string, unknown> = {},
): Promise<z.output<T>> {
  show(styleText('dim', `→ ${name} ${JSON.stringify(args)}`))
  const result = await client.callTool({ name, arguments: args })
  if (result.isError) throw new Error(Text.parse(result.content[0]).text)
  return schema.parse(result.structuredContent)
}

await client.connect(transport)
try {
  const { name, version } = client.getServerVersion() ?? { name: '?', version: '?' }
  show(
    safeText`Connected to ${name} ${version}, protocol ${String(client.getNegotiatedProtocolVersion())}`,
  )

  heading('Whose account is this?')
  const account = await call(z.looseObject({ name: z.string() }), 'get_current_account')
  show(safeText`${account.name}`)

  heading('Pick a voice: British, female')
  const { voices } = await call(Voices, 'list_voices', {
    provider: 'elevenlabs',
    language: 'en-gb',
    gender: 'female',
  })
  const [voice] = voices
  if (!voice) throw new Error('The sandbox has no such voice')
  show(safeText`${voice.name}: ${voice.description}`)

  heading('Check the greeting before using it')
  const greeting = 'Hello {{ contact.first_name }}, this is {{ practice }}.'
  const Check = z.looseObject({
    valid: z.boolean(),
    variables: z.array(z.string()),
    unknown_variables: z.array(z.string()),
  })
  const first = await call(Check, 'validate_agent_template', { template: greeting })
  show(
    safeText`valid: ${String(first.valid)}; unknown to the platform: ${first.unknown_variables.join(', ')}`,
  )
  show('practice is ours, given with each call, so it is allowed.')

  heading('Create the agent')
  const agent = await call(Id, 'create_agent', {
    name: 'Market Street Practice',
    model: { provider: 'openai', model: 'gpt-4.1' },
    transcriber: { provider: 'deepgram', model: 'nova-2:general', languages: ['en-gb'] },
    voice: { provider: 'elevenlabs', voice_id: voice.id, language: 'en-gb' },
    initial_message: { message: greeting },
  })
  show(safeText`Agent ${agent.id}`)

  heading('Attach a phone number to it')
  const { items } = await call(Trunks, 'list_sip_trunks')
  // The sandbox also has the hotel's trunk, which does not belong to a practice.
  const trunk = items.find(({ name }) => name === 'Office trunk')
  if (!trunk) throw new Error('The sandbox has no office trunk')
  show(safeText`${trunk.name} can dial out, over ${String(trunk.termination_uri)}`)
  const number = '+442079460180'
  await call(Id, 'create_phone_number', {
    number,
    name: 'Practice',
    sip_trunk_id: trunk.id,
    inbound_agent_id: agent.id,
  })
  show(safeText`${number} rings the agent`)

  heading('Call a patient')
  const patient = '+442079460123'
  const placed = await call(Id, 'place_call', {
    type: 'phone',
    agent_id: agent.id,
    from_number: number,
    to_number: patient,
    external_id: 'demo-1',
    test_variables: { practice: 'Market Street Practice', contact: { first_name: 'Emma' } },
  })
  show(safeText`Calling ${patient} (simulated: no telephone rings)`)

  heading('Wait until it has ended, and read the conversation')
  const ended = await call(Ended, 'wait_for_call', { call_id: placed.id })
  for (const { role, message } of ended.transcript.spoken)
    show(safeText`${role.padEnd(6)} ${message}`)
  show(safeText`${ended.status}, answered by a ${ended.answer_status}, ${ended.duration_seconds} s`)
  show(`Simulated calls run ${speed} times faster here, so you did not wait that long.`)

  heading('How much did each agent talk in the last 30 days?')
  const usage = await call(Usage, 'get_usage', { granularity: 'total', group_by: ['agent'] })
  const values = usage.data.flatMap((time) => time.values)
  const nameOf = (id: string) => usage.names.agent[id] ?? id
  const longestName = Math.max(...values.map(({ dimensions }) => nameOf(dimensions.agent).length))
  for (const { dimensions, conversations, seconds } of values) {
    const name = nameOf(dimensions.agent).padEnd(longestName + 2)
    const row = safeText`${name}${counted(conversations).padEnd(18)}${seconds} s`
    show(dimensions.agent === agent.id ? styleText('bold', `${row}  (the call above)`) : row)
  }
  show('The other agents and their calls came with the sandbox.')

  process.stdout.write(styleText('bold', '\nThat was the whole story. Connect your assistant:\n'))
  show('npm start    over HTTP')
  // Not `node`: the system's may be too old.
  show('node_modules/node/bin/node dist/voice-agent-mcp.js install    in the clients you have')
} finally {
  await client.close()
}

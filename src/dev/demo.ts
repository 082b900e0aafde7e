import { join } from 'node:path'
import { styleText } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'
import { safeLine } from '../text/safe-text.ts'

/*
 * npm run demo: a session of a real MCP client with the built program and its sandbox, from the
 * account to the usage. Prints each tool call, and its result as a model reads it. The sandbox is
 * in memory, so runs differ only in ids. Ofcom reserves the telephone numbers for fiction.
 */

/** Speed of simulated telephone calls, as a multiple of real time. */
const speed = 60

const bin = join(import.meta.dirname, '../../dist/voice-agent-mcp.js')
const client = new Client(
  { name: 'demo', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
)
// The server asks a person to confirm a telephone call. The demo answers instead.
client.setRequestHandler('elicitation/create', ({ params }) => {
  show(params.message, 'cyan')
  show('A person is asked this. Here the demo answers yes.')
  return { action: 'accept', content: { confirm: true } }
})
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [bin, '--sandbox-db', ':memory:', '--sandbox-speed', String(speed)],
  stderr: 'ignore',
})

const Texts = z.array(z.looseObject({ text: z.string() }))

let step = 0

function heading(title: string): void {
  step += 1
  process.stdout.write(`\n${styleText('bold', `${step}. ${title}`)}\n`)
}

function show(text: string, style: 'reset' | 'dim' | 'cyan' = 'reset'): void {
  for (const line of text.split('\n').filter((one) => one.trim() !== ''))
    process.stdout.write(`   ${styleText(style, safeLine(line).trimEnd())}\n`)
}

/**
 * Calls a tool, prints the tool call and the text of its result, and returns the structured result.
 */
async function call(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  show(`→ ${name} ${JSON.stringify(args)}`, 'dim')
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args })
  const text = Texts.parse(content)
    .map((part) => part.text)
    .join('\n')
  if (isError) throw new Error(text)
  show(text)
  return structuredContent
}

const idOf = (result: unknown): string => z.looseObject({ id: z.string() }).parse(result).id

await client.connect(transport)
try {
  const { name, version } = client.getServerVersion() ?? { name: '?', version: '?' }
  show(`Connected to ${name} ${version}, protocol ${client.getNegotiatedProtocolVersion()}`)

  heading('Whose account is this?')
  await call('get_current_account')

  heading('Pick a voice: British, female')
  const voices = { provider: 'elevenlabs', language: 'en-gb', gender: 'female' }
  const { voices: found } = z
    .looseObject({ voices: z.array(z.looseObject({ id: z.string() })) })
    .parse(await call('list_voices', voices))

  heading('Check the greeting before using it')
  const greeting = 'Hello {{ contact.first_name }}, this is {{ practice }}.'
  await call('validate_agent_template', { template: greeting })
  show('practice is ours, given with each call, so it is allowed.', 'cyan')

  heading('Create the agent')
  const agent_id = idOf(
    await call('create_agent', {
      name: 'Market Street Practice',
      model: { provider: 'openai', model: 'gpt-4.1' },
      transcriber: { provider: 'deepgram', model: 'nova-2:general', languages: ['en-gb'] },
      voice: { provider: 'elevenlabs', voice_id: found[0]?.id, language: 'en-gb' },
      initial_message: { message: greeting },
    }),
  )

  heading('Attach a phone number to it')
  // Names the trunk, because the sandbox has another one, of its sample hotel.
  const number = '+442079460180'
  const line = { number, name: 'Practice', sip_trunk_id: 'Office trunk' }
  await call('create_phone_number', { ...line, inbound_agent_id: agent_id })

  heading('Call a patient')
  const call_id = idOf(
    await call('place_call', {
      type: 'phone',
      agent_id,
      from_number: number,
      to_number: '+442079460123',
      external_id: 'demo-1',
      test_variables: { practice: 'Market Street Practice', contact: { first_name: 'Emma' } },
    }),
  )

  heading('Wait until it has ended, and read the conversation')
  await call('wait_for_call', { call_id })
  show(`Simulated calls run ${speed} times faster here, so you did not wait that long.`, 'cyan')

  heading('How much did each agent talk in the last 30 days?')
  await call('get_usage', { granularity: 'total', group_by: ['agent'] })
  show('The other agents and their calls came with the sandbox.', 'cyan')

  process.stdout.write(styleText('bold', '\nThat was the whole story. Connect your assistant:\n'))
  show('npm start    over HTTP')
  // The system's own `node` may be too old.
  show('node_modules/node/bin/node dist/voice-agent-mcp.js install    in the clients you have')
} finally {
  await client.close()
}

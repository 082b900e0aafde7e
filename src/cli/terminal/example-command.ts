import { exampleIds, exampleLine } from '../../contract/openapi-examples/ids.ts'
import { examples } from '../../contract/openapi-examples/index.ts'
import { parameterExamples } from '../../contract/openapi-examples/parameters.ts'
import { examplePeriod } from '../../contract/openapi-examples/usage.ts'
import { isObject } from '../../json/is-object.ts'
import type { Tool } from '../../mcp/call/tool.ts'
import { argumentWords } from './argument-words.ts'

type Values = Readonly<Record<string, unknown>>

/** An example of how a tool is called: its name and words behind it. */
export function exampleWords(tool: ToolFacts): string[] {
  return [tool.name, ...argumentWords(exampleArguments(tool), tool.inputSchema())]
}

type ToolFacts = Pick<Tool, 'name' | 'route' | 'inputSchema'>

/** The same as a command line, to copy into a POSIX shell. */
export const exampleCommand = (tool: ToolFacts): string =>
  ['voice-agent-mcp call', ...exampleWords(tool).map(quotedForShell)].join(' ')

/** Arguments of a tool, as the examples of the OpenAPI document have them. */
function exampleArguments({ name, route, inputSchema }: ToolFacts): Values {
  const own = Object.hasOwn(ofTools, name) ? ofTools[name] : undefined
  if (own) return own
  const { required = [], properties = {} } = inputSchema()
  const body = examples[`${route.id}.body`] ?? examples[`${route.id}.body.phone`]
  const needed = required.map((one) => [one, parameterExamples[one]])
  const all = { ...Object.fromEntries(needed), ...(isObject(body) ? body : {}) }
  return Object.fromEntries(
    Object.entries(all).filter(([one, value]) => value !== null && Object.hasOwn(properties, one)),
  )
}

/** Of tools whose arguments are more, or others, than those of their route. */
const ofTools: Readonly<Record<string, Values>> = {
  archive_agent: { agent_id: exampleIds.agent },
  copy_agent: {
    agent_id: exampleIds.agent,
    name: 'Support line 2',
    changes: { tags: ['support'] },
  },
  get_conversation: { id: exampleIds.call },
  get_usage: examplePeriod,
  list_agents: { tags: ['support'], limit: 5, fields: ['name', 'tags'] },
  list_calls: { answer_status: 'user_unavailable', created_after: examplePeriod.start },
  list_conversations: { direction: 'inbound', limit: 5 },
  list_models: { provider: 'openai', fields: ['name'] },
  list_voices: { language: 'en-us', gender: 'female', limit: 5 },
  place_calls: {
    agent_id: exampleIds.agent,
    from_number: exampleLine.number,
    calls: ['+12025550100', '+12025550101'],
  },
  update_agent: {
    agent_id: exampleIds.agent,
    max_duration_seconds: 600,
    denoising: { web: false },
    dry_run: true,
  },
  update_phone_number: { phone_number_id: exampleIds.number, name: 'Main line' },
  update_subaccount: { subaccount_id: exampleIds.subaccount, name: 'Branch' },
  wait_for_call: { call_id: exampleIds.call, timeout_seconds: 30 },
}

/** A word of a POSIX shell. */
const quotedForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

import { toolsetsOf } from '../mcp/protocol/exposure.ts'
import { cards } from '../service/tool-summaries.ts'

/** Commands of the program; none given means stdio. */
export const commands = ['stdio', 'http', 'sandbox'] as const
export type Command = (typeof commands)[number]

/** One setting as a person sees it. */
export interface Setting {
  /** The same as an environment variable. */
  readonly variable: string
  /** What the flag takes, in words; empty for a switch, which takes nothing. */
  readonly value: string
  readonly help: string
  readonly commands: readonly Command[]
}

const both = ['stdio', 'http'] as const
const listening = ['http', 'sandbox'] as const

/** Every setting once: flag, variable and help. Texts only; config.ts gives them meaning. */
export const settings = {
  'base-url': {
    variable: 'VOICE_AGENT_BASE_URL',
    value: 'URL',
    help: 'Address of the platform. Without it and a key: the sandbox.',
    commands: both,
  },
  'api-key': {
    variable: 'VOICE_AGENT_API_KEY',
    value: 'KEY',
    help: 'API key of the platform. Better as variable: flags can be seen by others.',
    commands: both,
  },
  'headers-timeout': {
    variable: 'VOICE_AGENT_HEADERS_TIMEOUT',
    value: 'SECONDS',
    help: 'Longest wait for the platform to start answering. Default 10.',
    commands: both,
  },
  timeout: {
    variable: 'VOICE_AGENT_TIMEOUT',
    value: 'SECONDS',
    help: 'Longest wait for its whole answer. Default 30; placing a call takes at most 54 in all.',
    commands: both,
  },
  account: {
    variable: 'VOICE_AGENT_ACCOUNT',
    value: 'ID',
    help: 'The one account to act on: no tool takes account_id then.',
    commands: both,
  },
  toolsets: {
    variable: 'VOICE_AGENT_TOOLSETS',
    value: 'NAMES',
    help: `Expose only the tools of these, comma-separated: ${toolsetsOf(cards.map(({ route }) => route)).join(', ')}.`,
    commands: both,
  },
  tools: {
    variable: 'VOICE_AGENT_TOOLS',
    value: 'NAMES',
    help: 'Expose only these tools; with --toolsets, these besides them.',
    commands: both,
  },
  'exclude-tools': {
    variable: 'VOICE_AGENT_EXCLUDE_TOOLS',
    value: 'NAMES',
    help: 'Do not expose these tools.',
    commands: both,
  },
  'read-only': {
    variable: 'VOICE_AGENT_READ_ONLY',
    value: '',
    help: 'Of all these, expose only tools that read. The variable takes true or false.',
    commands: both,
  },
  'catalog-ttl': {
    variable: 'VOICE_AGENT_CATALOG_TTL',
    value: 'SECONDS',
    help: 'How long the catalogs of models, transcribers and voices are kept. Default 300.',
    commands: both,
  },
  confirm: {
    variable: 'VOICE_AGENT_CONFIRM',
    value: 'WHEN',
    help: 'Ask before calls, deletes, archiving and deactivating: always, auto, person (refused where no person can be asked) or never. Default auto.',
    commands: both,
  },
  'dial-policy': {
    variable: 'VOICE_AGENT_DIAL_POLICY',
    value: 'FILE',
    help: 'Who may be called, from where, when and how often: a JSON file, or the JSON itself.',
    commands: both,
  },
  'state-dir': {
    variable: 'VOICE_AGENT_STATE_DIR',
    value: 'FOLDER',
    help: "Where it is kept which calls were placed, and the local token; :memory: keeps nothing. Default: your user's data folder.",
    commands: both,
  },
  'call-find-out': {
    variable: 'VOICE_AGENT_CALL_FIND_OUT',
    value: 'SECONDS',
    help: 'How long the platform is asked what became of a call whose answer was lost. Default 20; placing a call takes at most 54 in all.',
    commands: both,
  },
  'call-settle': {
    variable: 'VOICE_AGENT_CALL_SETTLE',
    value: 'SECONDS',
    help: 'How long after a call was given up the platform must not show it, before the same request sends it again. Default 120.',
    commands: both,
  },
  host: {
    variable: 'VOICE_AGENT_HOST',
    value: 'HOST',
    help: 'Address to listen on. Default 127.0.0.1.',
    commands: listening,
  },
  port: {
    variable: 'VOICE_AGENT_PORT',
    value: 'PORT',
    help: 'Port to listen on; 0 picks a free one. Default 3000 (http), 8080 (sandbox).',
    commands: listening,
  },
  'allowed-hosts': {
    variable: 'VOICE_AGENT_ALLOWED_HOSTS',
    value: 'NAMES',
    help: 'Host names clients may use, besides localhost; comma-separated.',
    commands: listening,
  },
  'allowed-origins': {
    variable: 'VOICE_AGENT_ALLOWED_ORIGINS',
    value: 'NAMES',
    help: 'Host names of web pages that may connect. Pages on localhost need it only to use the key of the server itself.',
    commands: ['http'],
  },
  'local-token': {
    variable: 'VOICE_AGENT_LOCAL_TOKEN',
    value: 'WHEN',
    help: 'on: requests that use the key of the server itself bring its local token; off: they need none. Default on.',
    commands: ['http'],
  },
  'max-requests': {
    variable: 'VOICE_AGENT_MAX_REQUESTS',
    value: 'COUNT',
    help: 'Most requests that are served at once, in all. More are answered with 503. Default 1000.',
    commands: ['http'],
  },
  'max-requests-per-key': {
    variable: 'VOICE_AGENT_MAX_REQUESTS_PER_KEY',
    value: 'COUNT',
    help: 'The same for one API key; more are answered with 429. Default 500.',
    commands: ['http'],
  },
  'max-requests-per-address': {
    variable: 'VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS',
    value: 'COUNT',
    help: 'The same for one client address. Behind a proxy all have its address: set 0, which means no limit. Default 500.',
    commands: ['http'],
  },
  'max-streams': {
    variable: 'VOICE_AGENT_MAX_STREAMS',
    value: 'COUNT',
    help: 'Most open streams (subscriptions/listen), in all. Default 2000.',
    commands: ['http'],
  },
  'max-streams-per-key': {
    variable: 'VOICE_AGENT_MAX_STREAMS_PER_KEY',
    value: 'COUNT',
    help: 'The same for one API key. Default 200.',
    commands: ['http'],
  },
  'max-streams-per-address': {
    variable: 'VOICE_AGENT_MAX_STREAMS_PER_ADDRESS',
    value: 'COUNT',
    help: 'The same for one client address; 0 means no limit. Default 500.',
    commands: ['http'],
  },
  'max-watched': {
    variable: 'VOICE_AGENT_MAX_WATCHED',
    value: 'COUNT',
    help: 'Most resources that are watched for subscriptions, in all; one that many watch counts once. Default 2500.',
    commands: both,
  },
  'max-watched-per-key': {
    variable: 'VOICE_AGENT_MAX_WATCHED_PER_KEY',
    value: 'COUNT',
    help: 'The same with one API key. Default 250.',
    commands: both,
  },
  'max-watched-per-address': {
    variable: 'VOICE_AGENT_MAX_WATCHED_PER_ADDRESS',
    value: 'COUNT',
    help: 'The same for one client address; 0 means no limit. Default 1000.',
    commands: ['http'],
  },
  'max-upstream': {
    variable: 'VOICE_AGENT_MAX_UPSTREAM',
    value: 'COUNT',
    help: 'Most requests to the platform at once, and so connections to it, in all; more wait. Default 128.',
    commands: both,
  },
  'max-upstream-per-key': {
    variable: 'VOICE_AGENT_MAX_UPSTREAM_PER_KEY',
    value: 'COUNT',
    help: 'The same with one API key. Default 64.',
    commands: both,
  },
  'max-upstream-per-address': {
    variable: 'VOICE_AGENT_MAX_UPSTREAM_PER_ADDRESS',
    value: 'COUNT',
    help: 'The same for requests with keys of their own from one client address; 0 means no limit. Default 96.',
    commands: ['http'],
  },
  'client-timeout': {
    variable: 'VOICE_AGENT_CLIENT_TIMEOUT',
    value: 'SECONDS',
    help: 'Longest time for a client to send a request, and to read on what it is sent. Default 30.',
    commands: ['http'],
  },
  'sandbox-db': {
    variable: 'VOICE_AGENT_SANDBOX_DB',
    value: 'FILE',
    help: "Where the sandbox keeps its data; :memory: keeps nothing. Default: your user's data folder.",
    commands,
  },
  'sandbox-speed': {
    variable: 'VOICE_AGENT_SANDBOX_SPEED',
    value: 'FACTOR',
    help: 'How much faster than life simulated calls run. Default 10.',
    commands,
  },
  'sandbox-llm-url': {
    variable: 'VOICE_AGENT_SANDBOX_LLM_URL',
    value: 'URL',
    help: 'OpenAI-compatible endpoint that speaks in simulated calls; without it they follow a script.',
    commands,
  },
  'sandbox-llm-model': {
    variable: 'VOICE_AGENT_SANDBOX_LLM_MODEL',
    value: 'MODEL',
    help: 'Model to ask for there.',
    commands,
  },
  'sandbox-llm-key': {
    variable: 'VOICE_AGENT_SANDBOX_LLM_KEY',
    value: 'KEY',
    help: 'Key for it, if it wants one. Better as variable.',
    commands,
  },
  faults: {
    variable: 'VOICE_AGENT_SANDBOX_FAULTS',
    value: 'FILE',
    help: 'JSON file of rules by which the sandbox fails (see docs/sandbox.md).',
    commands: ['sandbox'],
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings

/** A setting as messages name it. */
export const shownName = (name: SettingName) => `--${name} (${settings[name].variable})`

const about: Readonly<Record<Command, string>> = {
  stdio: 'Speak MCP on standard input and output, for a client that starts it (default).',
  http: 'Serve MCP over Streamable HTTP at /mcp.',
  sandbox: 'Serve the sandbox as the platform REST API, for programs that speak it directly.',
}

/** Help for the program, or for one of its commands. */
export function helpText(command: Command | undefined): string {
  const shown = Object.entries<Setting>(settings).filter(
    ([, setting]) => command === undefined || setting.commands.includes(command),
  )
  const rows = shown.map(([name, { value, variable, help }]) => [
    `  --${name} ${value}`,
    `${help} [${variable}]`,
  ])
  const table = (lines: string[][]) =>
    lines.map(([left = '', right = '']) => `${left.padEnd(28)}${right}`).join('\n')
  const uses = command
    ? `Usage: voice-agent-mcp ${command} [options]\n\n${about[command]}`
    : `Usage: voice-agent-mcp [command] [options]

An MCP server for a voice-agent platform. Without a key and an address it runs on a built-in sandbox.

Commands:
${table(commands.map((name) => [`  ${name}`, about[name]]))}`
  return `${uses}

Options:
${table([...rows, ['  -h, --help', 'Show this help.'], ['  -v, --version', 'Show the version.']])}
`
}

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/*
 * npm run recording: runs a newcomer's commands in a terminal, in a fresh clone of the last commit,
 * and draws them as docs/pictures/first-minute.svg. Needs `script` of util-linux (Linux).
 */

/** Keys to type while a command runs, and the output that triggers them. */
interface Typed {
  readonly after: RegExp
  readonly text: string
}

/** A command of the recording, in the root of the clone. */
interface Scene {
  readonly title: string
  readonly command: string
  /** Command for a clone that is already installed, in place of `command`. */
  readonly whenInstalled?: string
  readonly typed: readonly Typed[]
}

/** A newcomer's first minute in a fresh clone. */
export const scenes: readonly Scene[] = [
  {
    title: 'Install and start',
    command: 'npm ci && npm start',
    whenInstalled: 'npm start',
    // Ctrl+C.
    typed: [{ after: /In a browser: .*\n/, text: '\x03' }],
  },
  {
    title: 'Call somebody, on the sandbox',
    command: [
      'node dist/voice-agent-mcp.js call place_call --type phone --to-number +12025550100 \\',
      "    --agent-id 'Support line' --from-number 'Main line' --follow",
    ].join('\n'),
    typed: [{ after: /\[y\/N\] /, text: 'y\n' }],
  },
  {
    title: 'Add it to the clients on this machine',
    command: 'node dist/voice-agent-mcp.js install --print',
    typed: [],
  },
]

/** Columns of the terminal. */
const columns = 100

/** True if `script` of util-linux is available, which gives a command a terminal. */
export const hasTerminal = (): boolean => spawnSync('script', ['--version']).status === 0

/** Runs a command in a terminal; returns the final lines of its screen. */
async function runInTerminal(
  command: string,
  { cwd, env, typed }: { cwd: string; env: NodeJS.ProcessEnv; typed: readonly Typed[] },
): Promise<string[]> {
  const given = [
    '--quiet',
    '--return',
    '--command',
    `stty cols ${columns}; ${command}`,
    '/dev/null',
  ]
  const child = spawn('script', given, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  const left = [...typed]
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    const next = left[0]
    if (!next?.after.test(stripVTControlCharacters(output).replaceAll('\r\n', '\n'))) return
    left.shift()
    child.stdin.write(next.text)
  })
  await once(child, 'close')
  if (left.length > 0) throw new Error(`${command} did not show ${left[0]?.after}:\n${output}`)
  return screenLines(output)
}

/**
 * Final lines of a screen. An overwritten line counts in its last state. Empty lines at both ends
 * are dropped.
 */
const screenLines = (output: string): string[] =>
  output
    .replaceAll(/\r+\n/g, '\n')
    .split('\n')
    // \x1b[K clears the line before it is overwritten.
    .map((line) => stripVTControlCharacters(line.split('\x1b[K').at(-1) ?? '').trimEnd())
    .join('\n')
    .replaceAll(/^\n+|\n+$/g, '')
    .split('\n')

/** A command, and the final lines of the screen. */
interface Shot {
  readonly scene: Scene
  readonly lines: readonly string[]
}

/**
 * Runs the scenes in a clone, with an empty home folder in which one client is installed. `port`:
 * port of the server. With `isInstalled`, the clone's installation step is skipped.
 */
export async function record(
  clone: string,
  { port = 3000, isInstalled = false }: { port?: number; isInstalled?: boolean } = {},
): Promise<Shot[]> {
  const home = mkdtempSync(join(tmpdir(), 'recording-'))
  mkdirSync(join(home, '.cursor'))
  const shots: Shot[] = []
  try {
    for (const scene of scenes) {
      const env = environment({ clone, home, port })
      const command = (isInstalled && scene.whenInstalled) || scene.command
      const raw = await runInTerminal(command, { cwd: clone, env, typed: scene.typed })
      shots.push({ scene, lines: raw.map((line) => sameEverywhere(line, { clone, home, port })) })
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  return shots
}

/** Folders and port of a recording. */
interface Place {
  readonly clone: string
  readonly home: string
  readonly port: number
}

/**
 * A newcomer's environment, without settings of the program or of the npm that runs this script.
 */
function environment({ clone, home, port }: Place): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(VOICE_AGENT_|XDG_|NODE_|VITEST|INIT_CWD$|npm_(?!config_)|NO_COLOR)/.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    // Node.js of the clone once it exists, until then Node.js of this script.
    PATH: [join(clone, 'node_modules/node/bin'), dirname(process.execPath), process.env.PATH].join(
      delimiter,
    ),
    // npm's access to its registry, without its notices.
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_loglevel: 'error',
    npm_config_progress: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    VOICE_AGENT_PORT: String(port),
  }
}

/**
 * Replaces ids, times, paths, and the random marks around untrusted text, because they differ
 * between runs and machines. Ids of the seed data are fixed and stay.
 */
function sameEverywhere(line: string, place: Place): string {
  return line
    .replaceAll(place.clone, '/home/you/voice-agent-mcp')
    .replaceAll(place.home, '/home/you')
    .replaceAll(`:${place.port}`, ':3000')
    .replaceAll(/\b(?!0{8})[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}\b/g, callId)
    .replaceAll(/\bauto-[\da-f]{24}\b/g, 'auto-5b1f0c6e2d9a47c38e105f7b')
    .replaceAll(/(marks |untrusted-speech )[\da-f]{12}\b/g, '$17a4c90e15d32')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-11-20T09:30:00.000Z')
    .replaceAll(/; \d\d s;/g, '; 29 s;')
    .replaceAll(/\badded \d+ packages in \d+m?s\b/g, 'added 190 packages in 9s')
    .replaceAll(/parts: \d+ kB/g, 'parts: 3300 kB')
}

const callId = '9f2c61d4-7a3e-4b58-8c0d-1e6f5a2b9c47'

/*
 * Draws the recording: a terminal that shows the commands in turn, line by line. Viewers without
 * animation show the second command with its whole output.
 */

const cell = { width: 7.8, height: 17 }
const edge = { side: 16, top: 44, bottom: 14 }

/** Seconds before a command's output, between its lines, to answer a question, and to read. */
const pace = { typing: 1.2, line: 0.12, answering: 2, reading: 7 }

/** Rows for a command and its output. Long lines wrap between words where possible. */
export function rowsOf(shot: Shot): string[] {
  const piece = new RegExp(`.{1,${columns}}(?=\\s|$)|.{1,${columns}}`, 'gu')
  const wrapped = (line: string) =>
    (line.match(piece) ?? ['']).map((row, index) => (index === 0 ? row : row.trimStart()))
  return [...commandOf(shot), ...shot.lines.flatMap(wrapped)]
}

/** The command with its prompt, over several rows. */
const commandOf = ({ scene }: Shot): string[] => `$ ${scene.command}`.split('\n')

/** The rows of each command, read back from the SVG that `picture` has drawn. */
export function rowsIn(svg: string): string[][] {
  const pages = svg.split('<g class="page').slice(1)
  return pages.map((page) =>
    [...page.matchAll(/<text class="row[^>]*>(.*)<\/text>/g)].map(([, text = '']) =>
      unescaped(text),
    ),
  )
}

function picture(shots: readonly Shot[]): string {
  const pages = timed(shots)
  const total = pages.at(-1)?.end ?? 0
  const rows = Math.max(...pages.map((page) => page.rows.length))
  const width = Math.ceil(columns * cell.width) + 2 * edge.side
  const height = edge.top + rows * cell.height + edge.bottom
  const titles = shots.map(({ scene }) => scene.title).join('; ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>The first minute: ${escaped(titles)}</title>
<style>
${style(pages, total)}
</style>
<rect class="window" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${pages.map(pageMarkup).join('\n')}
</svg>
`
}

interface Row {
  readonly text: string
  readonly kind: 'typed' | 'shown'
  /** Time at which the row appears, seconds from the beginning. */
  readonly at: number
}

interface Page {
  readonly title: string
  readonly rows: readonly Row[]
  readonly start: number
  readonly end: number
}

function timed(shots: readonly Shot[]): Page[] {
  let start = 0
  return shots.map((shot) => {
    const commandRows = commandOf(shot).length
    let at = start
    const rows = rowsOf(shot).map((text, index) => {
      const kind: Row['kind'] = index < commandRows ? 'typed' : 'shown'
      if (index === commandRows) at += pace.typing
      else if (kind === 'shown') at += pace.line
      const row = { text, kind, at }
      if (text.includes('[y/N]')) at += pace.answering
      return row
    })
    const page = { title: shot.scene.title, rows, start, end: at + pace.reading }
    start = page.end
    return page
  })
}

function pageMarkup({ title, rows }: Page, page: number): string {
  const lines = rows.map(({ text, kind }, row) => {
    const y = edge.top + (row + 0.75) * cell.height
    return `<text class="row ${kind} r${page}-${row}" x="${edge.side}" y="${y}" xml:space="preserve">${escaped(text)}</text>`
  })
  return `<g class="page p${page}">
<text class="title" x="${edge.side}" y="26">${page + 1}. ${escaped(title)}</text>
${lines.join('\n')}
</g>`
}

/** Colours of both themes, and the times of each page and row in the animation's loop. */
function style(pages: readonly Page[], total: number): string {
  const percent = (seconds: number) => `${((seconds / total) * 100).toFixed(2)}%`
  const shown = (name: string, from: number, until: number) =>
    `@keyframes ${name}{${from === 0 ? '' : '0%{opacity:0}'}${percent(from)}{opacity:1}${percent(until)},100%{opacity:0}}` +
    `.${name}{animation:${name} ${total.toFixed(1)}s step-end infinite}`
  const timings = pages.flatMap(({ rows, start, end }, page) => [
    shown(`p${page}`, start, end),
    ...rows.map(({ at }, row) => shown(`r${page}-${row}`, at, end)),
  ])
  return `.window{fill:#fff;stroke:#d0d7de}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
.title{font-family:system-ui,sans-serif;fill:#59636e}
.page{opacity:0}.p1{opacity:1}
.typed{font-weight:700;fill:#0550ae}
@media (prefers-color-scheme:dark){.window{fill:#0d1117;stroke:#3d444d}text{fill:#e6edf3}.title{fill:#9198a1}.typed{fill:#79c0ff}}
@media (prefers-reduced-motion:no-preference){
${timings.join('\n')}
}`
}

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const

const escaped = (text: string) =>
  text.replaceAll('&', entities['&']).replaceAll('<', entities['<']).replaceAll('>', entities['>'])

const unescaped = (text: string) =>
  text.replaceAll(entities['<'], '<').replaceAll(entities['>'], '>').replaceAll(entities['&'], '&')

const root = join(import.meta.dirname, '../..')
export const file = join(root, 'docs/pictures/first-minute.svg')

if (import.meta.main) {
  if (!hasTerminal()) throw new Error('This needs the program script of util-linux.')
  const scratch = mkdtempSync(join(tmpdir(), 'clone-'))
  try {
    const clone = join(scratch, 'voice-agent-mcp')
    execFileSync('git', ['clone', '--quiet', root, clone])
    writeFileSync(file, picture(await record(clone)))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

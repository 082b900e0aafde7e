import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/*
 * npm run recording: runs a command in a terminal, and draws the screen as
 * docs/pictures/terminal-call.svg. Needs `script` of util-linux (Linux).
 */

const command = [
  'node dist/voice-agent-mcp.js call place_call --type phone --to-number +12025550100 \\',
  "    --agent-id 'Support line' --from-number 'Main line' --follow",
].join('\n')

/** The question that is answered with yes. */
const question = '[y/N] '

/** Columns of the terminal. */
const columns = 100

const root = join(import.meta.dirname, '../..')
export const file = join(root, 'docs/pictures/terminal-call.svg')

/** True if `script` of util-linux is available, which gives a command a terminal. */
export const hasTerminal = (): boolean => spawnSync('script', ['--version']).status === 0

/** Runs the command in a terminal, with an empty home folder; returns the rows of the screen. */
export async function record(): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), 'recording-'))
  try {
    const inTerminal = `stty cols ${columns}; ${command}`
    const given = ['--quiet', '--return', '--command', inTerminal, '/dev/null']
    // The environment of a newcomer, without settings.
    const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
    const child = spawn('script', given, { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (!output.includes(question) && (output + chunk).includes(question))
        child.stdin.write('y\n')
      output += chunk
    })
    await once(child, 'close')
    return [`$ ${command}`, ...screenLines(output).map((line) => sameEverywhere(line, home))]
      .flatMap((line) => line.split('\n'))
      .flatMap(wrapped)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Final lines of a screen. An overwritten line counts in its last state. */
const screenLines = (output: string): string[] =>
  output
    .replaceAll(/\r+\n/g, '\n')
    .trim()
    .split('\n')
    // \x1b[K clears the line before it is overwritten.
    .map((line) => stripVTControlCharacters(line.split('\x1b[K').at(-1) ?? '').trimEnd())

/**
 * Replaces ids, times, the home folder, and the random marks around untrusted text, because they
 * differ between runs and machines. Ids of the seed data are fixed and stay.
 */
const sameEverywhere = (line: string, home: string): string =>
  line
    .replaceAll(home, '/home/you')
    .replaceAll(/\b(?!0{8})[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}\b/g, callId)
    .replaceAll(/\bauto-[\da-f]{24}\b/g, 'auto-5b1f0c6e2d9a47c38e105f7b')
    .replaceAll(/(marks |untrusted-speech )[\da-f]{12}\b/g, '$17a4c90e15d32')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-11-20T09:30:00.000Z')
    .replaceAll(/; \d\d s;/g, '; 29 s;')

const callId = '9f2c61d4-7a3e-4b58-8c0d-1e6f5a2b9c47'

/** Wraps a line as the picture shows it, between words where possible. */
const wrapped = (line: string): string[] =>
  (line.match(new RegExp(`.{1,${columns}}(?=\\s|$)|.{1,${columns}}`, 'gu')) ?? ['']).map(
    (row, index) => (index === 0 ? row : row.trimStart()),
  )

const cell = { width: 7.8, height: 17 }
const margin = 16

/** The rows as an SVG, in the colours of the viewer's theme. */
function picture(rows: readonly string[]): string {
  const width = Math.ceil(columns * cell.width) + 2 * margin
  const height = rows.length * cell.height + 2 * margin
  const typed = command.split('\n').length
  const lines = rows.map((row, index) => {
    const y = margin + (index + 0.75) * cell.height
    const kind = index < typed ? ' class="typed"' : ''
    return `<text${kind} x="${margin}" y="${y}" xml:space="preserve">${escaped(row)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A call on the sandbox, in a terminal</title>
<style>
.window{fill:#fff;stroke:#d0d7de}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
.typed{font-weight:700;fill:#0550ae}
@media (prefers-color-scheme:dark){.window{fill:#0d1117;stroke:#3d444d}text{fill:#e6edf3}.typed{fill:#79c0ff}}
</style>
<rect class="window" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${lines.join('\n')}
</svg>
`
}

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const

const escaped = (text: string) =>
  text.replaceAll('&', entities['&']).replaceAll('<', entities['<']).replaceAll('>', entities['>'])

/** The rows of a picture. */
export const rowsIn = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>(.*)<\/text>/g)].map(([, text = '']) =>
    text
      .replaceAll(entities['<'], '<')
      .replaceAll(entities['>'], '>')
      .replaceAll(entities['&'], '&'),
  )

if (import.meta.main) {
  if (!hasTerminal()) throw new Error('This needs the program script of util-linux.')
  writeFileSync(file, picture(await record()))
}

import type { Shot } from './record.ts'
import { columns } from './terminal.ts'

/*
 * The recording as a picture: a terminal that shows one command after the other, each line when it
 * comes. Without animation it shows the second command whole.
 */

const cell = { width: 7.8, height: 17 }
const edge = { side: 16, top: 44, bottom: 14 }

/** Seconds: before the output of a command, between its lines, to answer a question, and to read. */
const pace = { typing: 1.2, line: 0.12, answering: 2, reading: 7 }

/** The rows of a shot, the command first; long lines are wrapped between words where possible. */
export function rowsOf(shot: Shot): string[] {
  const piece = new RegExp(`.{1,${columns}}(?=\\s|$)|.{1,${columns}}`, 'gu')
  const wrapped = (line: string) =>
    (line.match(piece) ?? ['']).map((row, index) => (index === 0 ? row : row.trimStart()))
  return [...commandOf(shot), ...shot.lines.flatMap(wrapped)]
}

/** The command behind its prompt, as it is written over several rows. */
const commandOf = ({ scene }: Shot): string[] => `$ ${scene.command}`.split('\n')

/** The rows of each shot as they stand in a picture. */
export function rowsIn(svg: string): string[][] {
  const pages = svg.split('<g class="page').slice(1)
  return pages.map((page) =>
    [...page.matchAll(/<text class="row[^>]*>(.*)<\/text>/g)].map(([, text = '']) =>
      unescaped(text),
    ),
  )
}

export function picture(shots: readonly Shot[]): string {
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
  /** When it appears, in seconds from the beginning. */
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

/** Colours for both themes, and when each page and row is shown in a round of all pages. */
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

import type * as z from 'zod/mini'
import { plainText } from '../../text/plain-text.ts'
import { h } from './dom.ts'
import { createFormats, type Formats } from './formats.ts'
import { connectHost, type Host, type HostContext, type ToolResult } from './host.ts'

export type Args = Readonly<Record<string, unknown>>

/** One view: what it reads in a result, and how it draws that. */
export interface ViewProgram<T> {
  readonly name: string
  readonly title: string
  /** What is waited for, such as `usage`. */
  readonly what: string
  readonly schema: z.ZodMiniType<T>
  /** Draws the data. Called with each result, and when the theme or the language changes. */
  readonly draw: (data: T, page: Page<T>) => readonly Node[]
}

/** What a view works with while its data is shown. */
export interface Page<T> {
  /** The arguments of the call whose result is shown. */
  readonly input: Readonly<Record<string, unknown>>
  readonly host: Host
  readonly formats: Formats
  /** Fires when the drawing is replaced. */
  readonly signal: AbortSignal
  /** Calls a tool and shows its result. */
  readonly call: (tool: string, args: Args, options?: CallOptions<T>) => Promise<void>
  readonly redraw: () => void
  /** Tells people who do not see the view what is new in it. */
  readonly announce: (text: string) => void
}

export interface CallOptions<T> {
  /** Puts the result together with what is shown; without it the result takes its place. */
  readonly join?: (shown: T, more: T) => T
  /** Nobody waits for it: a failure is told in passing, and the next one may go well. */
  readonly isQuiet?: boolean
}

/** After how long a view says that it waits, and that it waits long, ms. */
const saysSoAfter = 300
const isLongAfter = 10_000

/** Runs a view in this page: waits for the result, draws it, and says what goes wrong. */
export function startView<T>(program: ViewProgram<T>): void {
  const status = h('p', { role: 'status', id: 'status' })
  const problem = h('div', { role: 'alert', id: 'problem' })
  const content = h('div', { id: 'content' })
  const news = h('p', { role: 'log', id: 'news', class: 'hidden' })
  const main = h('main', {}, h('h1', {}, program.title), status, problem, content, news)
  document.body.append(main)

  let input: Args = {}
  let context: HostContext = {}
  let shown: { readonly data: T; readonly text: string } | undefined
  let drawing = new AbortController()
  const timers: ReturnType<typeof setTimeout>[] = []

  function busy(isBusy: boolean) {
    main.ariaBusy = String(isBusy)
    for (const timer of timers.splice(0)) clearTimeout(timer)
    status.textContent = ''
    if (!isBusy) return
    const say = (text: string) => () => {
      status.textContent = text
    }
    timers.push(
      setTimeout(say(`Reading ${program.what} …`), saysSoAfter),
      setTimeout(say('The platform is slow. Still waiting for the answer …'), isLongAfter),
    )
  }

  function fail(text: string) {
    busy(false)
    problem.replaceChildren(h('p', {}, text))
    // A choice that failed is taken back.
    draw()
  }

  function draw() {
    if (!shown) return
    drawing.abort()
    drawing = new AbortController()
    const { signal } = drawing
    const focused = document.activeElement?.id
    const formats = createFormats(context)
    const page = { input, host, formats, signal, call, redraw: draw, announce }
    content.replaceChildren(...program.draw(shown.data, page))
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true })
  }

  function show(result: ToolResult, join?: (shown: T, more: T) => T) {
    if (result.isError) return fail(errorText(result))
    const { data: more } = program.schema.safeParse(result.structuredContent)
    if (more === undefined) return fail('This result has another form than this view can show.')
    busy(false)
    problem.replaceChildren()
    const data = shown && join ? join(shown.data, more) : more
    const text = JSON.stringify(data)
    // What is the same stays as it is: a selection in it, and what the user has opened.
    if (join && shown?.text === text) return
    shown = { data, text }
    draw()
  }

  async function call(tool: string, args: Args, { join, isQuiet = false }: CallOptions<T> = {}) {
    if (!isQuiet) busy(true)
    try {
      const result = await host.callTool(tool, args)
      if (isQuiet && result.isError) return missed()
      if (!result.isError && !join) input = args
      show(result, join)
    } catch (error) {
      if (isQuiet) return missed()
      fail(`The call was refused: ${error instanceof Error ? error.message : 'no reason given'}`)
    }
  }

  function announce(text: string) {
    news.textContent = text
  }

  function missed() {
    status.textContent = `Could not read ${program.what} just now. Trying again …`
  }

  const host = connectHost(program.name, {
    context(changed) {
      context = changed
      draw()
    },
    input(args) {
      input = args
    },
    result: (result) => show(result),
    cancelled: () => fail('The call was cancelled.'),
  })
  busy(true)
}

/** Longest text of a failure that is shown, in characters. */
const longestError = 2000

function errorText({ content }: ToolResult): string {
  const text = plainText(content.map(({ text = '' }) => text).join(' '))
  return text.slice(0, longestError) || 'The call failed.'
}

import type * as z from 'zod/mini'
import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { h } from './dom.ts'
import { createFormats, type Formats } from './formats.ts'
import { connectHost, type Host, type HostContext, reasonIn, type ToolResult } from './host.ts'

export type Args = Readonly<Record<string, unknown>>

/** One view: what it reads in a result, and how it draws that. */
interface ViewProgram<T> {
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
  readonly input: Args
  readonly host: Host
  readonly formats: Formats
  /** Fires when the drawing is replaced. */
  readonly signal: AbortSignal
  /** Calls a tool and shows its result; false: it failed, and the view says why. */
  readonly call: (tool: string, args: Args, options?: CallOptions<T>) => Promise<boolean>
  readonly redraw: () => void
  /** Shows again what was shown before, with the arguments of its call. */
  readonly showAgain: (data: T, input: Args) => void
  /** Tells people who do not see the view what is new in it. */
  readonly announce: (text: string) => void
}

interface CallOptions<T> {
  /** Puts the result together with what is shown; without it the result takes its place. */
  readonly join?: (shown: T, more: T) => T
  /** Nobody waits for it: a failure is told in passing, and the next one may go well. */
  readonly isQuiet?: boolean
}

/** Runs a view in this page: waits for the result, draws it, and says what goes wrong. */
export function startView<T>(program: ViewProgram<T>): void {
  const states = createStates(program)
  let input: Args = {}
  let context: HostContext = {}
  let shown: { readonly data: T; readonly text: string } | undefined
  let drawing = new AbortController()
  /** Counts what was asked for: an answer that is older than the last question is dropped. */
  let asked = 0
  /** The last question that somebody waits for has no answer yet. */
  let isAwaited = false

  function draw() {
    if (!shown) return
    drawing.abort()
    drawing = new AbortController()
    const { signal } = drawing
    const { announce } = states
    const focused = document.activeElement?.id
    const opened = openedDetails(states.content)
    const formats = createFormats(context)
    const page = { input, host, formats, signal, call, redraw: draw, showAgain, announce }
    states.content.replaceChildren(...program.draw(shown.data, page))
    for (const id of opened)
      document.getElementById(id)?.closest('details')?.setAttribute('open', '')
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true })
  }

  function dropAnswers() {
    asked++
    isAwaited = false
  }

  function showAgain(data: T, args: Args) {
    dropAnswers()
    states.done()
    input = args
    shown = { data, text: JSON.stringify(data) }
    draw()
  }

  function fail(text: string) {
    states.fail(text)
    // A choice that failed is taken back.
    draw()
  }

  function show(result: ToolResult, join?: (shown: T, more: T) => T) {
    if (result.isError) return fail(errorText(result))
    const { data: more } = program.schema.safeParse(result.structuredContent)
    if (more === undefined) return fail('This result has another form than this view can show.')
    if (!isAwaited) states.done()
    const data = shown && join ? join(shown.data, more) : more
    const text = JSON.stringify(data)
    // What is the same stays as it is: a selection in it, and what the user has opened.
    if (join && shown?.text === text) return
    shown = { data, text }
    draw()
  }

  async function call(tool: string, args: Args, { join, isQuiet = false }: CallOptions<T> = {}) {
    // What is read in passing does not take the place of what the user waits for.
    const question = isQuiet ? asked : ++asked
    if (!isQuiet) {
      isAwaited = true
      states.wait()
    }
    const answer = host.callTool(tool, args)
    const result = await (isQuiet ? inTime(answer) : answer).catch(refusedResult)
    if (question !== asked) return true
    if (!isQuiet) isAwaited = false
    if (isQuiet && result.isError) {
      if (!isAwaited) states.remark(`Could not read ${program.what} just now.`)
      return false
    }
    if (!result.isError && !join) input = args
    show(result, join)
    return !result.isError
  }

  const host = connectHost(program.name, {
    context(changed) {
      context = changed
      draw()
    },
    input(args) {
      input = args
    },
    result(result) {
      dropAnswers()
      show(result)
    },
    cancelled: () => fail('The request was cancelled before its result came.'),
    // From here on the view reads nothing and runs no timer.
    closed: () => drawing.abort(),
    refused: (reason) => fail(`The client does not show this view: ${reason}`),
  })
  states.wait()
}

/** What the user has opened, by the ids of the summaries. */
const openedDetails = (place: HTMLElement): string[] =>
  [...place.querySelectorAll('details[open] > summary')].flatMap(({ id }) => id || [])

/**
 * How long a host may take to answer what nobody waits for, ms: a host that never answers is a failure,
 * too. What the user has asked for has no limit, because the host may ask for permission first.
 */
const longestQuietMs = 60_000

const inTime = <T>(answer: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no answer')), longestQuietMs)
    answer.then(resolve, reject)
  })

const refusedResult = (error: unknown): ToolResult => ({
  content: [{ text: `The client refused the request: ${reasonIn(error)}` }],
  isError: true,
})

/** Longest text of a failure that is shown, in characters. */
const longestError = 2000

function errorText({ content }: ToolResult): string {
  const text = plainText(content.map(({ text = '' }) => text).join(' '))
  return firstCharacters(text, longestError) || 'The request failed.'
}

/** The parts of a page that all views have: title, state, failure, content and what is read out. */
interface States {
  readonly content: HTMLElement
  /** The view waits, and says so after a while. */
  readonly wait: () => void
  /** It waits no longer, and nothing is wrong. */
  readonly done: () => void
  /** It waits no longer, because something went wrong. */
  readonly fail: (text: string) => void
  /** A short notice, shown until the next change. */
  readonly remark: (text: string) => void
  /** Tells people who do not see the view what is new in it. */
  readonly announce: (text: string) => void
}

/** After how long a view says that it waits, and that it waits long, ms. */
const saysSoAfter = 300
const isLongAfter = 10_000

/** Puts the parts into the page; `what` is waited for. */
function createStates({ title, what }: { title: string; what: string }): States {
  const status = h('p', { role: 'status', id: 'status' })
  const problem = h('div', { role: 'alert', id: 'problem' })
  const content = h('div', { id: 'content' })
  const news = h('p', { role: 'log', id: 'news', class: 'hidden' })
  const main = h('main', {}, h('h1', {}, title), status, problem, content, news)
  document.body.append(main)
  const timers: ReturnType<typeof setTimeout>[] = []
  const remark = (text: string) => {
    status.textContent = text
  }
  const settle = (isBusy: boolean) => {
    main.ariaBusy = String(isBusy)
    for (const timer of timers.splice(0)) clearTimeout(timer)
    remark('')
  }
  return {
    content,
    wait() {
      settle(true)
      timers.push(
        setTimeout(() => remark(`Reading ${what} …`), saysSoAfter),
        setTimeout(() => remark(longWait), isLongAfter),
      )
    },
    done() {
      settle(false)
      problem.replaceChildren()
    },
    fail(text) {
      settle(false)
      problem.replaceChildren(h('p', {}, text))
    },
    remark,
    announce(text) {
      news.textContent = text
    },
  }
}

const longWait = 'The platform is slow. Still waiting for the answer …'

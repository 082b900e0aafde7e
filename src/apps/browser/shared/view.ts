import type * as z from 'zod/mini'
import { askButtons, button } from './controls.ts'
import type { DecisionOptions, Decisions } from './decision.ts'
import { type Content, fill, h, icon } from './dom.ts'
import { type Failure, failureIn, failureOf, failureState } from './failure.ts'
import { createFormats, type Formats } from './formats.ts'
import { connectHost, type Host, type HostContext, reasonIn, type ToolResult } from './host.ts'
import { copyWithoutSoftHyphens } from './typography.ts'

export type Args = Readonly<Record<string, unknown>>

/** A view: parser and renderer of a result. */
interface ViewProgram<T> {
  readonly name: string
  /** Title until there is data. */
  readonly title: string
  /** Title if the model's tool call failed, by its tool; default: `title`. */
  readonly failedTitle?: (tool: string) => string
  /** Shows the decisions of the view's tools. Absent if none of its tools needs confirmation. */
  readonly decisions?: (options: DecisionOptions) => Decisions
  /** Name of the awaited data, such as `usage`. */
  readonly what: string
  readonly schema: z.ZodMiniType<T>
  /** Parts of the placeholder for the result, in order, with their number. */
  readonly skeleton: Skeleton
  /** Renders the data: for each result, and when the theme or the language changes. */
  readonly draw: (data: T, page: Page<T>) => Drawing
}

/** Parts of a placeholder by shape, which the style sheet defines. */
type Skeleton = Readonly<
  Partial<Record<'figure' | 'control' | 'strip' | 'chart' | 'bubble' | 'line' | 'item', number>>
>

/** A rendering. */
export interface Drawing {
  /** The headline: what is shown, by name. */
  readonly title: Content
  /** Line under the headline, such as a status and a time. */
  readonly about?: Content
  readonly content: Content
  /** Text to announce to screen readers when it differs from that of the last rendering. */
  readonly news?: string | undefined
}

/** Context of a rendering. */
export interface Page<T> {
  /** Arguments of the tool call whose result is shown. */
  readonly input: Args
  readonly host: Host
  readonly formats: Formats
  /** Fires when the rendering is replaced. */
  readonly signal: AbortSignal
  /** Calls a tool and shows its result; false if it failed, and the view shows the reason. */
  readonly call: (tool: string, args: Args, options?: CallOptions<T>) => Promise<boolean>
  /**
   * Calls a tool in the background and does not show its result; `undefined` if that failed.
   */
  readonly read: (tool: string, args: Args) => Promise<ToolResult | undefined>
  readonly redraw: () => void
  /** Shows earlier data again, with the arguments of its tool call. */
  readonly showAgain: (data: T, input: Args) => void
  /** Announces a text to screen readers. */
  readonly announce: (text: string) => void
}

interface CallOptions<T> {
  /** Merges the result with the shown data; by default the result replaces it. */
  readonly join?: (shown: T, more: T) => T
  /**
   * A background read: a failure shows a short notice, not an error, because the next read may
   * succeed.
   */
  readonly isQuiet?: boolean
}

/** Runs a view in this page: waits for the result, renders it, and shows failures. */
export function startView<T>(program: ViewProgram<T>): void {
  copyWithoutSoftHyphens()
  const states = createStates(program)
  let input: Args = {}
  let context: HostContext = {}
  let shown: { readonly data: T; readonly text: string } | undefined
  let drawing = new AbortController()
  let drawnData: T | undefined
  /** Request counter: a reply older than the latest request is dropped. */
  let asked = 0
  /** The user's last request is pending. */
  let isAwaited = false

  function draw() {
    if (!shown && !decisions?.isShown()) return
    drawing.abort()
    drawing = new AbortController()
    const { signal } = drawing
    const { announce } = states
    const focused = document.activeElement?.id
    const opened = openedDetails(states.content)
    // Other data begins at its top.
    const scrolled = drawnData === shown?.data ? scrolledBoxes(states.content) : []
    drawnData = shown?.data
    const formats = createFormats(context)
    const page = { input, host, formats, signal, call, read, redraw: draw, showAgain, announce }
    const drawn = decisions?.drawing(signal) ?? (shown && program.draw(shown.data, page))
    if (drawn) states.draw(drawn, host)
    for (const id of opened)
      document.getElementById(id)?.closest('details')?.setAttribute('open', '')
    for (const { id, left, top } of scrolled) document.getElementById(id)?.scrollTo(left, top)
    if (focused) states.focus(focused)
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

  function fail(failure: Failure, retry?: () => void) {
    const { name, annotations } = context.toolInfo?.tool ?? {}
    const isChange = !retry && name !== undefined && !annotations?.readOnlyHint
    if (isChange && failure !== unreadable) {
      const outcome = failure.isNothingDone
        ? 'Nothing was changed.'
        : 'It is not known whether anything was changed.'
      const label = failure.isNothingDone ? 'Ask to try again' : 'Ask what happened'
      const ask = askButtons(host, [[label, 'ask', tryAgain, 'primary']])
      const fields = [...failure.fields, outcome]
      states.fail({ ...failure, fields }, ask, program.failedTitle?.(name))
    } else {
      const isRepeated = retry && failure.isRetryable && host.canCallTools()
      states.fail(failure, isRepeated ? [button('Try again', retry, again)] : [])
    }
    // Resets the controls to the shown data.
    draw()
  }

  /** Repeats the model's tool call; `undefined` unless that tool only reads. */
  function readAgain() {
    const { name, annotations } = context.toolInfo?.tool ?? {}
    return name !== undefined && annotations?.readOnlyHint ? () => call(name, input) : undefined
  }

  function show(result: ToolResult, retry?: () => void, join?: (shown: T, more: T) => T) {
    const isOutcome = decisions?.isShown()
    if (decisions?.take(result)) return states.done()
    if (result.isError) return fail(failureOf(result), retry)
    const { data: more } = program.schema.safeParse(result.structuredContent)
    if (more === undefined) return fail(unreadable, retry)
    if (!isAwaited) states.done()
    const data = shown && join ? join(shown.data, more) : more
    const text = JSON.stringify(data)
    // An unchanged result keeps the rendering, including selections and opened parts.
    if (join && shown?.text === text) return
    shown = { data, text }
    draw()
    if (isOutcome) states.announceHead()
  }

  async function call(tool: string, args: Args, { join, isQuiet = false }: CallOptions<T> = {}) {
    // A background read does not replace the user's pending request.
    const question = isQuiet ? asked : ++asked
    if (!isQuiet) {
      isAwaited = true
      states.wait()
    }
    const answer = host.callTool(tool, args)
    const result = await (isQuiet ? inTime(answer) : answer).catch(refusedResult)
    const retry = () => void call(tool, args, { ...(join && { join }), isQuiet })
    if (question !== asked) return true
    if (!isQuiet) isAwaited = false
    if (isQuiet && result.isError) {
      if (!isAwaited) states.remark(`Could not read ${program.what} just now.`)
      return false
    }
    if (!result.isError && !join) input = args
    show(result, retry, join)
    return !result.isError
  }

  /** Repeats the model's tool call with a token; `undefined` if another result arrived first. */
  async function sendToken(
    tool: string,
    confirm_token: string,
    status: string,
  ): Promise<ToolResult | undefined> {
    const question = ++asked
    isAwaited = true
    states.wait(status)
    const result = await host.callTool(tool, { ...input, confirm_token }).catch(refusedResult)
    if (question !== asked) return undefined
    isAwaited = false
    show(result)
    return result
  }

  async function read(tool: string, args: Args) {
    const result = await inTime(host.callTool(tool, args)).catch(refusedResult)
    return result.isError ? undefined : result
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
      show(result, readAgain())
    },
    cancelled: () => fail(cancelled, readAgain()),
    // Stops the view's reads and timers.
    closed: () => drawing.abort(),
    refused: (reason) => fail(failureIn('The client does not show this view', reason)),
  })
  const decisions = program.decisions?.({
    ...{ host, draw, send: sendToken },
    read: (tool, { ...args }) => {
      const { agent_id, account_id } = input
      return read(tool, { ...args, agent_id, account_id })
    },
  })
  states.wait()
}

/** Ids of the summaries of all open `details`. */
const openedDetails = (place: HTMLElement): string[] =>
  [...place.querySelectorAll('details[open] > summary')].flatMap(({ id }) => id || [])

/** Scroll positions of the boxes that scroll. */
const scrolledBoxes = (place: HTMLElement) =>
  [...place.querySelectorAll('[data-more][id]')].map(({ id, scrollLeft, scrollTop }) => ({
    ...{ id, left: scrollLeft, top: scrollTop },
  }))

/**
 * Timeout for the host's reply to a background read, ms: a silent host is a failure, too. The
 * user's own requests have no timeout, because the host may ask for permission first.
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

const unreadable = failureIn(
  'This result cannot be shown',
  'It has another form than this view knows. The answer in the conversation has it.',
)
/** Asks the model for a change again. The message contains no untrusted text. */
const tryAgain = 'Please find out whether that was done. If it was not, try it again.'
const again = { id: 'retry', class: 'primary' }
const cancelled = failureIn('Cancelled', 'The request was cancelled before its result came.', true)

/** Delay before a view shows that it waits, ms. */
const saysSoAfter = 300
/** Delay before a view shows that the platform is slow, ms. */
const isLongAfter = 10_000

/** Inserts the parts that all views have: title, state, failure, content and announcements. */
function createStates({
  title,
  what,
  skeleton,
}: Pick<ViewProgram<unknown>, 'title' | 'what' | 'skeleton'>) {
  const heading = h('h1', { dir: 'auto', tabindex: -1 }, title)
  const about = h('p', { class: 'row muted', hidden: true })
  const actions = h('div', { class: 'row' })
  const status = h('p', { role: 'status', id: 'status', class: 'muted' })
  const problem = h('div', { role: 'alert', id: 'problem' })
  const content = h('div', { id: 'content' }, placeholder(skeleton))
  const news = h('p', { role: 'log', id: 'news', class: 'hidden' })
  const head = h('header', {}, h('hgroup', {}, heading, about, status), actions)
  const main = h('main', {}, head, problem, content, news)
  document.body.append(main)
  const timers: ReturnType<typeof setTimeout>[] = []
  let lastNews: string | undefined
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
    draw(drawing: Drawing, host: Host) {
      fill(heading, drawing.title)
      fill(about, drawing.about)
      about.hidden = !about.hasChildNodes()
      fill(actions, sizeButton(host))
      fill(content, drawing.content)
      if (drawing.news !== undefined && drawing.news !== lastNews) news.textContent = drawing.news
      lastNews = drawing.news
    },
    /** Focuses the element with this id or, if it is gone, the title. */
    focus(id: string) {
      const element = document.getElementById(id)
      if (element) element.focus({ preventScroll: true })
      else heading.focus()
    },
    /** Announces the title and the line under it. */
    announceHead() {
      news.textContent = [heading, ...about.children].map((one) => one.textContent).join('. ')
    },
    /** Shows, after a delay, that a request is pending. */
    wait(text = `Reading ${what} …`) {
      settle(true)
      timers.push(
        setTimeout(() => remark(text), saysSoAfter),
        setTimeout(() => remark(longWait), isLongAfter),
      )
    },
    /** Finished without a failure. */
    done() {
      settle(false)
      problem.replaceChildren()
    },
    /** Finished with a failure. */
    fail(failure: Failure, actions: readonly HTMLElement[], failedTitle = title) {
      settle(false)
      heading.textContent = failedTitle
      content.querySelector('.skeleton')?.remove()
      problem.replaceChildren(failureState(failure, actions))
    },
    /** Shows a short notice until the next change. */
    remark,
    /** Announces a text to screen readers. */
    announce(text: string) {
      news.textContent = text
    },
  }
}

/** Shapes in place of a result, about as high as the result. */
const placeholder = (parts: Skeleton): HTMLElement =>
  h(
    'div',
    { class: 'skeleton', 'aria-hidden': true },
    Object.entries(parts).map(([shape, count]) =>
      h('div', {}, ...Array.from({ length: count }, () => h('span', { class: shape }))),
    ),
  )

function sizeButton(host: Host): HTMLElement | undefined {
  const mode = host.otherDisplayMode()
  if (mode === undefined) return undefined
  const label = mode === 'fullscreen' ? 'Show larger' : 'Show in the conversation'
  return button(
    icon(mode === 'fullscreen' ? 'expand' : 'shrink'),
    () => host.requestDisplayMode(mode).catch(() => undefined),
    { id: 'size', class: 'icon-button', 'aria-label': label, title: label },
  )
}

const longWait = 'The platform is slow. Still waiting for the answer …'

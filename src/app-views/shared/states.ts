import { h } from './dom.ts'

/** The parts of a page that all views have: title, state, failure, content and what is read out. */
export interface States {
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
export function createStates({ title, what }: { title: string; what: string }): States {
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

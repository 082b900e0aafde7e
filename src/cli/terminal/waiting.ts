import type { StatusLine } from './terminal.ts'

/** How long nothing is shown, ms: most calls have ended by then. */
const quietMs = 1000

/** Shows how long a call has taken, and how far it is, on one line until it ends. */
export interface Waiting {
  progress(message: string): void
  /** Does something without the line, such as a question. */
  without<T>(work: () => Promise<T>): Promise<T>
  end(): void
}

/** `line` absent: nothing is shown. */
export function showWaiting(tool: string, line: StatusLine | undefined): Waiting {
  const begun = performance.now()
  let message = tool
  let isShown = false
  let isHidden = false
  const show = () => {
    if (isHidden) return
    isShown = true
    line?.show(`${Math.round((performance.now() - begun) / 1000)} s: ${message}`)
  }
  const hide = () => {
    if (isShown) line?.clear()
    isShown = false
  }
  const timer = line && setInterval(show, quietMs)
  return {
    progress(text) {
      message = text
      show()
    },
    async without(work) {
      hide()
      isHidden = true
      try {
        return await work()
      } finally {
        isHidden = false
      }
    },
    end() {
      clearInterval(timer)
      hide()
      isHidden = true
    },
  }
}

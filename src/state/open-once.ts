/** Something that is opened with its first use. */
export interface OpenOnce<T> {
  /** Opens it, or waits until it is open. After a failure the next use tries again. */
  readonly get: () => Promise<T>
  /** Closes it if it was opened; the next use opens it again. */
  readonly close: (close: (opened: T) => void | Promise<void>) => Promise<void>
}

export function openOnce<T>(open: () => Promise<T>): OpenOnce<T> {
  let opening: Promise<T> | undefined
  const start = () => {
    const started = open()
    started.catch(() => {
      if (opening === started) opening = undefined
    })
    return started
  }
  return {
    get: () => {
      opening ??= start()
      return opening
    },
    async close(close) {
      const opened = await opening?.catch(() => undefined)
      opening = undefined
      if (opened !== undefined) await close(opened)
    },
  }
}

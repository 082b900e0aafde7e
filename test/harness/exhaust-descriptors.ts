import { closeSync, openSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Preloaded into a program (--import) to exhaust its file descriptors. The first SIGUSR2 takes all
 * free descriptors, the next releases them. With DESCRIPTORS_UNTIL, all are taken for good before
 * the bundle's part with this name prefix is loaded.
 */

const held: number[] = []

function take(): void {
  for (;;) {
    try {
      held.push(openSync('/dev/null', 'r'))
    } catch {
      return
    }
  }
}

process.on('SIGUSR2', () => {
  if (held.length === 0) take()
  else for (const descriptor of held.splice(0)) closeSync(descriptor)
  process.stderr.write(`descriptors held: ${held.length}\n`)
})

const part = process.env.DESCRIPTORS_UNTIL
if (part !== undefined) {
  registerHooks({
    load(url, context, next) {
      if (url.includes(`/parts/${part}`)) take()
      return next(url, context)
    },
  })
}

import { closeSync, openSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Loaded into a program before its own first line: takes all descriptors that are left when it gets
 * SIGUSR2 and gives them back with the next, or takes them for good before the part of the program
 * is loaded whose name DESCRIPTORS_UNTIL begins.
 */

const taken: number[] = []

function take(): void {
  for (;;) {
    try {
      taken.push(openSync('/dev/null', 'r'))
    } catch {
      return
    }
  }
}

process.on('SIGUSR2', () => {
  if (taken.length === 0) take()
  else for (const descriptor of taken.splice(0)) closeSync(descriptor)
  process.stderr.write(`descriptors taken: ${taken.length}\n`)
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

import { closeSync, openSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Loaded into a program before its own first line: takes all descriptors that are left when it gets
 * SIGUSR2 and gives them back with the next, or takes them for good before the part of the program
 * is loaded whose name DESCRIPTORS_UNTIL begins.
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

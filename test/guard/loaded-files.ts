import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Preloaded into the program (node --import). It prints on standard error each file that the program
 * loads.
 */
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) writeSync(2, `loaded ${url}\n`)
    return next(url, context)
  },
})

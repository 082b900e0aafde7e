/**
 * NODE_OPTIONS that run some code in a program before each of its SQL statements: `step` is the
 * statement's number, from 1. So a program can be stopped, or held, at a moment of our choosing.
 */
export function beforeEachStatement(code: string): string {
  const script = `
    import { DatabaseSync, StatementSync } from 'node:sqlite'
    import { readdirSync, writeFileSync } from 'node:fs'
    let step = 0
    for (const [owner, name] of [[DatabaseSync, 'exec'], [StatementSync, 'run']]) {
      const original = owner.prototype[name]
      owner.prototype[name] = function (...args) {
        step++
        ${code}
        return original.apply(this, args)
      }
    }`
  return `--import=data:text/javascript,${encodeURIComponent(script)}`
}

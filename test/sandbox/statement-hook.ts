/**
 * NODE_OPTIONS that run `code` in a program before each SQL statement, to stop or delay the program
 * there. `step`: number of the statement, from 1.
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

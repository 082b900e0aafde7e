import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/*
 * npm run names [-- FOLDER]: refuses private vocabulary in file names and in the identifiers of
 * src/, tools/, test/ and docs/examples/. Comments and strings are not checked.
 */

/** Refused words with their replacements. */
const refused = new Map([
  ['allowance', 'quota or rate limit'],
  ['allowances', 'quotas or rate limits'],
  ['arrows', 'imports'],
  ['at once', 'concurrency'],
  ['era', 'protocol'],
  ['eras', 'protocols'],
  ['least', 'min'],
  ['most', 'max'],
  ['readings', 'polls, samples or coercions'],
  ['ring', 'call'],
  ['room', 'folder, capacity or space'],
  ['rooms', 'folders'],
  ['surroundings', 'context'],
  ['take turn', 'acquire'],
  ['take turns', 'worker'],
  ['tell', 'report, notify or show'],
  ['tells', 'reports, notifies or shows'],
  ['thing', 'agent, number, item'],
  ['things', 'agents, numbers, items'],
  ['told', 'reported or shown'],
])

/**
 * Exceptions: names in the platform's API, in settings and in libraries, and the bounds `atLeast`
 * and `atMost`.
 */
const allowed = new Set([
  ...['atLeast', 'atMost'],
  ...['ringMs', 'ringSeconds', 'room_sid'],
  ...['era', 'max_at_once'],
])

const codeFiles = '{src,tools,test,docs/examples}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}'

/** Comments, strings, templates and regular expressions. */
const notCode =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[(,=:] ?)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g

/** `FILE: NAME: write …` for each name with a refused word. */
export const nameProblems = (root: string): string[] =>
  globSync(codeFiles, { cwd: root, exclude: ['**/node_modules/**'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
    .flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8').replaceAll(notCode, '')
      const names = new Set([basename(file), ...(code.match(/[a-z_$][\w$]*/gi) ?? [])])
      return [...names].flatMap((name) => {
        const instead = allowed.has(name) ? undefined : insteadOf(name)
        return instead ? [`${file}: ${name}: write ${instead}`] : []
      })
    })

function insteadOf(name: string): string | undefined {
  const words = name
    .replaceAll(/([a-z\d])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, ' ')
  return [...refused].find(([word]) => ` ${words} `.includes(` ${word} `))?.[1]
}

if (import.meta.main) {
  const problems = nameProblems(process.argv[2] ?? join(import.meta.dirname, '../..'))
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

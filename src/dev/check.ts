import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { readScript } from './script-arguments.ts'

/* npm run check: all checks before a change is sent, quick steps first. */

const steps: Readonly<Record<string, string>> = {
  lint: 'biome ci --error-on-warnings',
  imports: 'npm run -s imports',
  names: 'npm run -s names',
  types: 'tsc',
  'types-browser': 'tsc -p src/apps/browser',
  'dead-code': 'knip',
  documents: 'npm run -s docs -- --check',
  build: 'npm run -s build',
  package: 'publint --strict',
  release: 'npm run -s release -- --dry-run',
  simulate: 'npm run -s simulate -- --seeds 100000 --minutes 20',
  'test:slow': 'npm run -s test:slow',
  test: 'npm run -s test',
  conformance: 'npm run -s conformance',
  attack: 'npm run -s attack',
  soak: 'npm run -s soak -- --minutes 2',
}

const usage = `Runs these steps in order, and stops at the first that fails:

${Object.entries(steps)
  .map(([name, command]) => `  ${name.padEnd(14)} ${command}`)
  .join('\n')}

npm run check -- [--from STEP]

  --from  starts with this step
`

const { flags, refuse } = readScript(usage, { from: undefined })
const names = Object.keys(steps)
const first = flags.from === undefined ? 0 : names.indexOf(flags.from)
if (first < 0) refuse(`There is no step ${flags.from}.`)

const took: string[] = []
for (const name of names.slice(first)) {
  const command = steps[name] ?? ''
  process.stdout.write(`\n${name}: ${command}\n`)
  const start = performance.now()
  const { status } = spawnSync(command, {
    cwd: join(import.meta.dirname, '../..'),
    shell: true,
    stdio: 'inherit',
  })
  took.push(`  ${name.padEnd(14)} ${((performance.now() - start) / 1000).toFixed(1).padStart(7)} s`)
  if (status === 0) continue
  process.stdout.write(`\n${took.join('\n')}\n${name} failed. Run again: -- --from ${name}\n`)
  process.exit(1)
}
process.stdout.write(`\n${took.join('\n')}\nAll steps passed.\n`)

import { join } from 'node:path'
import * as z from 'zod'
import { scratchFolder, startProgram } from './program.ts'

const Doctor = z.object({
  version: z.string(),
  status: z.enum(['green', 'yellow', 'red']),
  checks: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      status: z.enum(['green', 'yellow', 'red', 'skipped']),
      text: z.string(),
      details: z.array(z.string()),
      todo: z.string().nullable(),
      ms: z.int().min(0),
    }),
  ),
})

type DoctorCheck = z.output<typeof Doctor>['checks'][number]

/** Report of `voice-agent-mcp doctor --json`. */
export interface Examined {
  readonly code: number | null
  readonly status: string
  /** Names of all checks. */
  readonly names: readonly string[]
  /** A check by its name. */
  readonly check: (name: string) => DoctorCheck
  /** Names of the red checks. */
  readonly red: readonly string[]
  /** Standard output and standard error. */
  readonly output: string
}

/** Runs `doctor --json` in a temporary home folder. */
export async function examine(
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Examined> {
  using home = scratchFolder()
  const own = { HOME: home.path, XDG_CONFIG_HOME: join(home.path, '.config'), XDG_DATA_HOME: '' }
  await using program = startProgram(['doctor', '--json', ...flags], { ...own, ...env })
  const code = await program.exited
  const { status, checks } = Doctor.parse(JSON.parse(program.stdout() || program.stderr()))
  return {
    code,
    status,
    names: checks.map(({ name }) => name),
    check(name) {
      const found = checks.find((one) => one.name === name)
      if (found) return found
      throw new Error(`There is no check ${name}`)
    },
    red: checks.filter((one) => one.status === 'red').map(({ name }) => name),
    output: program.stdout() + program.stderr(),
  }
}

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Global setup of vitest: builds the program if needed, because tests run the published bundle. */
export default function buildOnce(): void {
  const script = join(import.meta.dirname, '../../src/dev/build.ts')
  execFileSync(process.execPath, [script, '--if-needed'], { stdio: 'inherit' })
}

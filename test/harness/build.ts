import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Tests run the program that is published: build it once before them. */
export default function buildOnce(): void {
  const script = join(import.meta.dirname, '../../src/dev/build.ts')
  execFileSync(process.execPath, [script, '--if-needed'], { stdio: 'inherit' })
}

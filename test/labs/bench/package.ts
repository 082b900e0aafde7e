import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as z from 'zod'
import { round, type Section } from '../measure/report.ts'

const root = join(import.meta.dirname, '../../..')

const Packed = z.tuple([
  z.looseObject({
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.looseObject({ path: z.string() })),
  }),
])
const Manifest = z.looseObject({ dependencies: z.record(z.string(), z.string()).optional() })

/** The size of what `npm pack` would publish; the bundle is already built. */
export async function npmPackage(): Promise<Section[]> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
  const [packed] = Packed.parse(JSON.parse(execFileSync('npm', args, { cwd: root }).toString()))
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } })
  const dependencies = Object.keys(Manifest.parse(manifest).dependencies ?? {}).length
  return [
    {
      title: 'package',
      unit: 'MB',
      values: { download: round(packed.size / 1e6), files: packed.files.length },
      goals: [
        { name: 'unpacked', value: round(packed.unpackedSize / 1e6), atMost: 4 },
        { name: 'runtime dependencies', value: dependencies, atMost: 0 },
      ],
    },
  ]
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

test('the build has the licence of data that others have made', () => {
  const licences = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  expect(licences).toMatch(
    /^Data in src\/policy\/area-code-time-zones\.ts$[\s\S]*Libphonenumber Authors[\s\S]*Apache License/m,
  )
})

import { join } from 'node:path'
import { root } from '../docs/documents.ts'
import { installOnce } from '../harness/install-once.ts'
import { installPython } from './python-environment.ts'

/** Installs the packages that only the examples need. */
export default function install(): void {
  installOnce(join(root, 'docs/examples/assistant'))
  installPython()
}

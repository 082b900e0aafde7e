import { installOnce } from '../harness/install-once.ts'

/** Installs the PostgreSQL server that only the tests in this folder need. */
export default function install(): void {
  installOnce(import.meta.dirname)
}

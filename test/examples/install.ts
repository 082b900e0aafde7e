import { installPython } from './python-environment.ts'

/** Installs what the examples need and the project does not. */
export default function install(): void {
  installPython()
}

import { runFlag } from './setting.ts'

/** For commands that print something. */
export const jsonSettings = {
  json: runFlag('Print JSON, for programs.'),
}

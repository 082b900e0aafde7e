import { flag } from './setting.ts'

/** For commands that print something. */
export const jsonSettings = {
  json: flag({ variable: undefined, help: 'Print JSON, for programs.' }),
}

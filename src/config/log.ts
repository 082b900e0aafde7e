import { type LogOptions, logForms, logLevels } from '../observe/log.ts'
import { choice, optionalChoice, type SettingTexts, settingReader } from './setting.ts'

export const logSettings = {
  log: choice({
    variable: 'VOICE_AGENT_LOG',
    value: 'FORM',
    help: 'Form of the log on standard error. text: lines for people; json: one JSON object a line, for programs; off: no log.',
    choices: logForms,
    default: 'text',
  }),
  'log-level': optionalChoice({
    variable: 'VOICE_AGENT_LOG_LEVEL',
    value: 'LEVEL',
    help: 'What the log holds. error: defects and broken connections; warn: also warnings; notice: also start and stop; info: also one line for each request and each refused HTTP request.',
    choices: logLevels,
    range: 'Default notice; info with --log json.',
  }),
}

export function logConfig(texts: SettingTexts): LogOptions {
  const value = settingReader(logSettings, texts)
  const form = value('log')
  return { form, level: value('log-level') ?? (form === 'json' ? 'info' : 'notice') }
}

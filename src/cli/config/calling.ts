import { type ConfirmMode, confirmModes } from '../../tool/confirm-mode.ts'
import { choice, type SettingTexts, seconds, settingLabel, settingReader, text } from './setting.ts'

/** Confirmation, dial policy, and times for a call whose answer was lost. */
export interface CallingConfig {
  /** Confirmation mode for calls, deletes, archiving and disabling. */
  confirm: ConfirmMode
  /** Dial policy: its file, or its JSON text and its name in messages. */
  policy: { file: string } | { text: string; source: string } | undefined
  timing: {
    /** Time during which the platform is polled for a call whose answer was lost, ms. */
    findOutMs: number
    /** Further time without the call at the platform before it counts as not placed, ms. */
    settledMs: number
  }
}

export const callingSettings = {
  confirm: choice({
    variable: 'VOICE_AGENT_CONFIRM',
    help: 'Ask before calls, deletes, archiving, disabling and greetings with unknown variables for several agents: always, auto (archiving and disabling only what is in use, or several agents by a filter), person (refused where no person can be asked) or never.',
    choices: confirmModes,
    default: 'auto',
  }),
  'dial-policy': text({
    variable: 'VOICE_AGENT_DIAL_POLICY',
    value: 'FILE',
    help: 'Who may be called, from where, when and how often: a JSON file, or the JSON itself.',
    json: { type: ['string', 'object'] },
    // A blank policy is a configuration error. Ignoring a blank policy would allow calls that the
    // operator did not intend to allow.
    blankError: 'is empty. Give the policy ({} restricts nothing), or do not set it.',
  }),
  'call-find-out': seconds({
    variable: 'VOICE_AGENT_CALL_FIND_OUT',
    help: 'How long to look for a call whose reply was lost; placing a call takes at most 54 in all.',
    default: 20,
  }),
  'call-settle': seconds({
    variable: 'VOICE_AGENT_CALL_SETTLE',
    help: 'A call that is not found after this time counts as not placed; only then does the same request place it again.',
    default: 120,
  }),
}

export function callingConfig(texts: SettingTexts): CallingConfig {
  const value = settingReader(callingSettings, texts)
  return {
    confirm: value('confirm'),
    policy: policySource(value('dial-policy')),
    timing: { findOutMs: value('call-find-out'), settledMs: value('call-settle') },
  }
}

function policySource(given: string | undefined): CallingConfig['policy'] {
  if (given === undefined) return undefined
  return given.startsWith('{')
    ? { text: given, source: settingLabel(callingSettings, 'dial-policy') }
    : { file: given }
}

import { confirmModes } from '../../tool/confirm-mode.ts'
import {
  choice,
  type SettingTexts,
  seconds,
  settingLabel,
  settingReader,
  text,
  withVariables,
} from './setting.ts'

/** Confirmation, dial policy, and times for a call whose answer was lost. */
export type CallingConfig = ReturnType<typeof callingConfig>

export const callingSettings = withVariables({
  confirm: choice({
    help: 'Ask before calls, deletes, archiving, disabling and greetings with unknown variables for several agents: always, auto (archiving and disabling only what is in use, or several agents by a filter), person (refused where no person can be asked) or never.',
    choices: confirmModes,
    default: 'auto',
  }),
  'dial-policy': text({
    value: 'FILE',
    help: 'Who may be called, from where, when and how often: a JSON file, or the JSON itself.',
    json: { type: ['string', 'object'] },
    // A blank policy is a configuration error. Ignoring a blank policy would allow calls that the
    // operator did not intend to allow.
    blankError: 'is empty. Give the policy ({} restricts nothing), or do not set it.',
  }),
  'call-find-out': seconds({
    help: 'How long to look for a call whose reply was lost; placing a call takes at most 54 in all.',
    default: 20,
  }),
  'call-settle': seconds({
    help: 'A call that is not found after this time counts as not placed; only then does the same request place it again.',
    default: 120,
  }),
})

export function callingConfig(texts: SettingTexts) {
  const value = settingReader(callingSettings, texts)
  return {
    /** Confirmation mode for calls, deletes, archiving and disabling. */
    confirm: value('confirm'),
    policy: policySource(value('dial-policy')),
    timing: {
      /** Time during which the platform is polled for a call whose answer was lost, ms. */
      findOutMs: value('call-find-out'),
      /** Further time without the call at the platform before it counts as not placed, ms. */
      settledMs: value('call-settle'),
    },
  }
}

/** Dial policy: its file, or its JSON text and its name in messages. */
export type PolicySource = { file: string } | { text: string; source: string }

function policySource(given: string | undefined): PolicySource | undefined {
  if (given === undefined) return undefined
  return given.startsWith('{')
    ? { text: given, source: settingLabel(callingSettings, 'dial-policy') }
    : { file: given }
}

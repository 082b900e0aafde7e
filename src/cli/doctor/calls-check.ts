import type { CallingConfig } from '../../config/calling.ts'
import type { Inspection } from '../../service/inspection.ts'
import { type Check, type Finding, green, notConfigured } from './check.ts'
import { policyInWords } from './policy-in-words.ts'

/** Who may be called, and who is asked before. */
export const callsCheck = (
  calling: CallingConfig | undefined,
  isSandbox: boolean,
  { readPolicy }: Inspection,
): Check => ({
  name: 'calls',
  title: 'Calls',
  run(): Finding {
    if (!calling) return notConfigured
    const { config, source } = readPolicy(calling.policy)
    const confirmation = confirmations[calling.confirm]
    if (config)
      return green(`By the dial policy in ${source}. ${confirmation}`, policyInWords(config))
    const text = `There is no dial policy: any number may be called, except emergency and premium numbers. ${confirmation}`
    if (isSandbox || calling.confirm !== 'never') return green(text)
    return {
      light: 'yellow',
      text,
      todo: 'Limit who may be called with --dial-policy (docs/calls.md), or let a person be asked with --confirm auto.',
    }
  },
})

const confirmations: Readonly<Record<CallingConfig['confirm'], string>> = {
  always:
    'Each call is confirmed: by a person, or by a second request where no person can be asked.',
  auto: 'Each call is confirmed: by a person, or by a second request where no person can be asked.',
  person: 'Each call is confirmed by a person; where none can be asked, it is refused.',
  never: 'Nobody is asked before a call (--confirm never).',
}

import type { Agent } from '../../contract/agent.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'

/** Checks that the transcriber and the voice of an agent have a language in common. */
export function checkLanguages({
  transcriber,
  voice,
}: Pick<Agent, 'transcriber' | 'voice'>): CheckResult {
  const check = 'languages'
  const heard = [transcriber?.languages, transcriber?.language]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '')
  const spoken = voice?.language
  if (typeof spoken !== 'string' || heard.length === 0) {
    return warning(
      check,
      'transcriber or voice names no language',
      'set transcriber.languages and voice.language with update_agent',
    )
  }
  const found = `transcriber ${heard.join(', ')}; voice ${spoken}`
  return heard.some((one) => isSameLanguage(one, spoken))
    ? ok(check, found)
    : problem(check, found, 'give both the same language with update_agent')
}

/** True for two codes of one language: `de` and `de-AT`. */
const isSameLanguage = (one: string, other: string): boolean =>
  foldLanguageCode(one).split('-')[0] === foldLanguageCode(other).split('-')[0]

/** The case of a language code has no meaning (RFC 5646 §2.1.1); some vendors write `de_DE`. */
export const foldLanguageCode = (code: string) => code.toLowerCase().replaceAll('_', '-')

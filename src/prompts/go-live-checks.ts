import type { Account } from '../contract/account.ts'
import type { Agent } from '../contract/agent.ts'
import type { ModelCatalog, TranscriberCatalog } from '../contract/provider.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import type { TemplateValidation } from '../contract/template.ts'
import type { ReadResult } from '../mcp/protocol/prompt-reader.ts'
import { isSameLanguage } from './catalog-items.ts'
import type { Line } from './line.ts'

/** One thing that can be told without asking anybody. */
export interface Check {
  readonly check: string
  readonly result: 'ok' | 'problem' | 'note' | 'unknown'
  readonly detail?: string
}

export interface Checked {
  readonly agent: Agent
  /** As the lists say; `undefined` when they do not tell. */
  readonly isArchived: boolean | undefined
  readonly line: ReadResult<Line>
  readonly account: ReadResult<Account>
  readonly greeting: ReadResult<TemplateValidation> | undefined
  readonly models: ReadResult<ModelCatalog>
  readonly transcribers: ReadResult<TranscriberCatalog>
}

export function checksOf(checked: Checked): Check[] {
  const { agent, isArchived, account, models, transcribers } = checked
  return [
    from('account is active', account, ({ is_active }) => verdict(is_active !== false)),
    { check: 'agent is not archived', ...archivedVerdict(isArchived) },
    { check: 'greeting renders and reads known variables', ...greetingVerdict(checked) },
    from('model is in the catalog', models, (catalog) => inCatalog(agent.model, catalog)),
    from('transcriber is in the catalog', transcribers, (catalog) =>
      inCatalog(agent.transcriber, catalog),
    ),
    { check: 'transcriber and voice speak one language', ...languageVerdict(agent) },
    ...lineChecks(checked),
  ]
}

type Verdict = Omit<Check, 'check'>

const verdict = (isOk: boolean, detail?: string): Verdict => ({
  result: isOk ? 'ok' : 'problem',
  ...(detail && { detail }),
})

const from = <T>(check: string, read: ReadResult<T>, judge: (value: T) => Verdict): Check => ({
  check,
  ...(read.ok ? judge(read.value) : { result: 'unknown', detail: read.problem }),
})

const archivedVerdict = (isArchived: boolean | undefined): Verdict =>
  isArchived === undefined
    ? { result: 'unknown', detail: 'the platform does not tell' }
    : verdict(!isArchived)

function greetingVerdict({ agent, greeting }: Checked): Verdict {
  if (!greeting) {
    const isSilent = agent.initial_message?.mode === 'fixed_message' || !agent.initial_message
    return { result: isSilent ? 'problem' : 'note', detail: 'there is no greeting text' }
  }
  if (!greeting.ok) return { result: 'unknown', detail: greeting.problem }
  const { valid, errors, warnings } = greeting.value
  const told = [...errors, ...warnings].slice(0, 3).map(({ message }) => message.slice(0, 200))
  if (valid && warnings.length > 0) return { result: 'note', detail: told.join('; ') }
  return verdict(valid, told.join('; '))
}

function inCatalog(chosen: Agent['model'], catalog: ModelCatalog | TranscriberCatalog): Verdict {
  const { provider, model } = chosen ?? {}
  const entry = catalog.find((one) => {
    const code = typeof one.provider === 'string' ? one.provider : one.provider.code
    return code === provider
  })
  const isThere = model === undefined || entry?.models.some(({ id }) => id === model)
  // A fine-tuned model is in no catalog and may be right all the same.
  return entry && isThere
    ? { result: 'ok' }
    : { result: 'note', detail: `${provider ?? '?'} ${model ?? ''} is not listed`.trim() }
}

function languageVerdict({ transcriber, voice }: Agent): Verdict {
  const heard = [transcriber?.languages, transcriber?.language]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '')
  const spoken = voice?.language
  if (typeof spoken !== 'string' || heard.length === 0) {
    return { result: 'note', detail: 'one of the two names no language' }
  }
  const isOne = heard.some((one) => isSameLanguage(one, spoken))
  return verdict(isOne, `hears ${heard.join(', ')}; speaks ${spoken}`)
}

/** The number names a trunk that does not exist. */
const isMissing = (trunk: ReadResult<SipTrunk>) => !trunk.ok && trunk.isMissing === true

const trunkVerdict = (trunk: Line['trunk']): Verdict =>
  trunk && isMissing(trunk)
    ? verdict(false, 'the trunk that it names does not exist')
    : verdict(trunk !== undefined)

function lineChecks({ line, agent }: Checked): Check[] {
  if (!line.ok)
    return [{ check: 'number belongs to the account', result: 'unknown', detail: line.problem }]
  const { number, trunk } = line.value
  const owned = { check: 'number belongs to the account', ...verdict(number !== undefined) }
  if (!number) return [owned]
  const answers = number.inbound_agent
  return [
    owned,
    { check: 'number runs over a trunk', ...trunkVerdict(trunk) },
    ...(trunk && !isMissing(trunk)
      ? [
          from('trunk can dial out', trunk, ({ termination_uri, is_managed }) =>
            verdict(
              Boolean(termination_uri) || is_managed === true,
              termination_uri ?? 'no termination_uri',
            ),
          ),
        ]
      : []),
    {
      check: 'incoming calls reach this agent',
      result: answers?.id === agent.id ? 'ok' : 'note',
      ...(answers?.id !== agent.id && {
        detail: answers ? `another agent answers: ${answers.id}` : 'nobody answers this number',
      }),
    },
  ]
}

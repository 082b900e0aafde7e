import type { Agent } from '../contract/agent.ts'
import { checkAccounts } from '../flows/checks/account-check.ts'
import { checkNotArchived } from '../flows/checks/archived-check.ts'
import { type CatalogPart, checkCatalogPart } from '../flows/checks/catalog-check.ts'
import type { CheckResult } from '../flows/checks/check-result.ts'
import { inboundCheck, ownNumberCheck, trunkCheck } from '../flows/checks/from-number-check.ts'
import { checkGreeting } from '../flows/checks/greeting-check.ts'
import { checkLanguages } from '../flows/checks/language-check.ts'
import type { PromptReader, ReadResult } from '../mcp/protocol/prompt-reader.ts'
import type { NumberAndTrunk } from './number-attachments.ts'

/** A check as the checklist shows it. `unknown`: what it needs could not be read. */
interface ChecklistItem {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'problem' | 'unknown'
  readonly found: string
  readonly fix?: string
}

/** The checks of the checklist: those of check_call_readiness, and more that only prevent a good call. */
export async function goLiveChecks(
  agent: Agent,
  { fromNumber, number }: { readonly fromNumber: string; readonly number: NumberAndTrunk },
  reader: PromptReader,
): Promise<ChecklistItem[]> {
  const catalogItem = (part: CatalogPart) =>
    itemsOf(part, reader.attempt(checkCatalogPart(part, agent, reader)))
  const items = await Promise.all([
    itemsOf('account', reader.attempt(checkAccounts(reader, undefined))),
    itemsOf('agent', reader.attempt(checkNotArchived(agent, reader))),
    itemsOf('greeting', reader.attempt(checkGreeting(agent, {}, reader))),
    catalogItem('model'),
    catalogItem('transcriber'),
    catalogItem('voice'),
    [itemOf(checkLanguages(agent))],
    numberItems(agent, fromNumber, number),
  ])
  return items.flat()
}

function numberItems(
  agent: Agent,
  fromNumber: string,
  { found, trunk }: NumberAndTrunk,
): ChecklistItem[] {
  const check = 'from_number'
  if (!found.ok) return [unknownItem(check, found.problem)]
  const owned = itemOf(ownNumberCheck(fromNumber, found.value))
  const { number } = found.value
  if (!number || !trunk) return [owned]
  return [
    owned,
    trunk.ok ? itemOf(trunkCheck(number, trunk.value)) : unknownItem('trunk', trunk.problem),
    itemOf(inboundCheck(number, agent)),
  ]
}

async function itemsOf(
  check: string,
  reading: Promise<ReadResult<CheckResult | CheckResult[]>>,
): Promise<ChecklistItem[]> {
  const read = await reading
  return read.ok ? [read.value].flat().map(itemOf) : [unknownItem(check, read.problem)]
}

const itemOf = ({ check, ok, found, fix }: CheckResult): ChecklistItem => ({
  check,
  result: ok ? (fix ? 'warning' : 'ok') : 'problem',
  found,
  ...(fix && { fix }),
})

const unknownItem = (check: string, why: string): ChecklistItem => ({
  check,
  result: 'unknown',
  found: `could not be read (${why})`,
})

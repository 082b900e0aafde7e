import { nameWithId } from '../../text/closest-match.ts'
import { shownName } from '../../text/shown-name.ts'
import type { FailedAccounts } from '../lists/several-accounts.ts'
import type { SelectedMany } from './agent-selection.ts'

/** Accounts that were not looked into, for the result; nothing where all were. */
export const failedShown = (failed: readonly FailedAccounts[]) =>
  failed.length > 0 ? { failed_accounts: [...failed] } : {}

/** Which agents a tag stands for; nothing where they were named one by one. */
export function tagLines(
  argument: SelectedMany['argument'],
  isTree: boolean | undefined,
): string[] {
  if (argument !== 'with_tag') return []
  return [
    isTree
      ? 'Archived agents are not included.'
      : 'Archived agents and those of subaccounts are not included.',
  ]
}

/** Accounts that were not looked into, as lines. */
export const failedLines = (failed: readonly FailedAccounts[]): string[] =>
  failed.length > 0 ? [`NOT COMPLETE: ${failedInWords(failed)}. Call again for those.`] : []

/** `not read: Hamburg branch (1b9d…): HTTP 500` */
export const failedInWords = (failed: readonly FailedAccounts[]): string =>
  failed
    .map(
      ({ reason, accounts }) =>
        `not read: ${accounts.map(({ id, name }) => nameWithId(name && shownName(name), id)).join(', ')}: ${reason}`,
    )
    .join('; ')

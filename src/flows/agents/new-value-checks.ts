import { isObject } from '../../json/is-object.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountReader } from '../checks/account-reader.ts'
import { checkNewCatalogValues } from '../checks/catalog-check.ts'
import { checkNewGreeting } from '../checks/greeting-check.ts'
import type { Fields } from '../field-changes.ts'

/** Checks of values before they are saved: each gives warnings, or throws Refused. */
export interface NewValueChecks {
  catalogValues(wanted: Fields, stored?: Fields): Promise<readonly string[]>
  greeting(initialMessage: unknown): Promise<readonly string[]>
}

/** Checks of one call: the same value is checked once, for however many agents it is meant. */
export function newValueChecks(run: Pick<Run, 'request' | 'session' | 'signal'>): NewValueChecks {
  const reader = accountReader(run)
  const made = new Map<string, Promise<readonly string[]>>()
  const once = (key: unknown, check: () => Promise<readonly string[]>) => {
    const text = JSON.stringify(key)
    const known = made.get(text) ?? check()
    made.set(text, known)
    return known
  }
  return {
    catalogValues: (wanted, stored = {}) =>
      once(['catalogs', catalogFieldsOf(wanted), catalogFieldsOf(stored)], () =>
        checkNewCatalogValues(wanted, reader, stored),
      ),
    greeting: (initialMessage) =>
      once(['greeting', isObject(initialMessage) && initialMessage.message], () =>
        checkNewGreeting(initialMessage, reader),
      ),
  }
}

/** What of an agent is compared with the catalogs: its other fields do not change the check. */
const catalogFieldsOf = ({ model, transcriber, voice }: Fields) =>
  [model, transcriber, voice].map((part) =>
    isObject(part)
      ? [part.provider, part.model, part.voice_id, part.languages, part.language]
      : undefined,
  )

import { type Audit, createAudit } from '../audit/audit.ts'
import { fileSink, stateSink, streamSink } from '../audit/audit-sinks.ts'
import type { AuditConfig } from '../config/audit.ts'
import type { Journal } from '../state/journal.ts'
import type { State } from '../state/state.ts'

/** The audit trail that the configuration asks for; `undefined`: nothing is recorded. */
export function openAudit(
  { days, file, showsNumbers, mustRecord }: AuditConfig,
  state: Pick<State, 'audit'>,
  onTrouble: (message: string) => void,
): Audit | undefined {
  const lines = file === '-' ? streamSink(process.stderr) : file && fileSink(file)
  const sinks = [...(days > 0 ? [stateSink(state.audit, days)] : []), ...(lines ? [lines] : [])]
  if (sinks.length === 0) return undefined
  return createAudit({ sinks, mustRecord, showsNumbers, onTrouble })
}

/** A journal that tells the audit trail what became of calls. */
export function auditedJournal(
  open: () => Promise<Journal>,
  audit: Audit | undefined,
): () => Promise<Journal> {
  if (!audit) return open
  const wrapped = new WeakMap<Journal, Journal>()
  return async () => {
    const journal = await open()
    const known = wrapped.get(journal) ?? audit.journal(journal)
    wrapped.set(journal, known)
    return known
  }
}

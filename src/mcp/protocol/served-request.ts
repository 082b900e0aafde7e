import type { Session } from '../../session/session.ts'
import type { GetHeader } from './envelope.ts'
import type { Exposure } from './exposure.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** The connection or HTTP request that a server of the SDK answers. */
export interface ServedRequest {
  readonly session: Session
  readonly exposure: Exposure
  readonly catalogue: ToolCatalogue
  readonly header: GetHeader
  readonly transport: 'stdio' | 'http'
  /**
   * An HTTP request of the 2025 revisions. This server keeps no sessions, so there is no stream on
   * which its client could be sent anything but the answer.
   */
  readonly isStatelessLegacy: boolean
}

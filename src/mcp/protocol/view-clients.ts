import type { Server, ServerContext } from '@modelcontextprotocol/server'
import { declaresViews } from '../../apps/views.ts'
import { declaredCapabilities } from './client-capabilities.ts'
import type { ServedRequest } from './served-request.ts'
import { isViewSession } from './view-sessions.ts'

/*
 * Which clients show views. Tools and resources mention views to those alone, so that the others
 * pay nothing for them.
 */

/** Whether the client of a request shows views. */
export const showsViews = (
  server: Server,
  context: ServerContext,
  { header, isStatelessLegacy }: Pick<ServedRequest, 'header' | 'isStatelessLegacy'>,
): boolean =>
  isStatelessLegacy ? isViewSession(header) : declaresViews(declaredCapabilities(server, context))

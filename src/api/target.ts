import { encodeQuery } from '../contract/query.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { SendFailure } from './failure.ts'

/**
 * Path and query of a request. Path parameters are encoded here and nowhere else; one that is
 * empty, `.` or `..` would lead to another resource, and broken Unicode cannot be encoded: both are
 * refused.
 */
export function targetOf(route: Route, request: RouteRequest): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.params[name] ?? ''
    if (value === '' || value === '.' || value === '..' || !value.isWellFormed()) {
      throw new SendFailure({ kind: 'bad_parameter', name, value })
    }
    return encodeURIComponent(value)
  })
  const query = encodeQuery(request.query)
  return query ? `${path}?${query}` : path
}

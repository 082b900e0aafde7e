import { type HtmlPage, type PageParts, pageOf as page } from '../../pages/page.ts'
import { formActionSource } from './redirect-target.ts'

/** One page with its headers. A form on it may be sent to this server, and end at `redirectUri`. */
export function pageOf({
  redirectUri,
  ...parts
}: Omit<PageParts, 'script' | 'style' | 'formAction'> & { redirectUri?: string }): HtmlPage {
  if (redirectUri === undefined) return page(parts)
  const end = formActionSource(redirectUri)
  return page({ ...parts, formAction: ["'self'", end ?? ''].join(' ').trim() })
}

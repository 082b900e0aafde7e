import { consentPage } from './consent-page.ts'
import { keyPage } from './key-page.ts'
import type { HtmlPage, PageModel } from './models.ts'
import { problemPage } from './problem-page.ts'

/** A page of the authorization server, with its status and headers. No page has a script. */
export function renderPage(model: PageModel): HtmlPage {
  if (model.page === 'key') return keyPage(model)
  return model.page === 'consent' ? consentPage(model) : problemPage(model)
}

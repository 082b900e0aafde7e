import type { HtmlPage } from '../../pages/page.ts'
import { consentPage } from './consent-page.ts'
import { keyPage } from './key-page.ts'
import type { PageModel } from './models.ts'
import { problemPage } from './problem-page.ts'
import { returnPage } from './return-page.ts'

/** A page of the authorization server, with its status and headers. No page has a script. */
export function renderPage(model: PageModel): HtmlPage {
  switch (model.page) {
    case 'key':
      return keyPage(model)
    case 'consent':
      return consentPage(model)
    case 'problem':
      return problemPage(model)
    case 'return':
      return returnPage(model)
  }
}

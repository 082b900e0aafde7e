import { html } from '../../pages/html.ts'
import type { HtmlPage } from '../../pages/page.ts'
import { clientText } from '../../text/client-text.ts'
import { pageOf } from './layout.ts'
import type { ProblemModel } from './models.ts'

/** The page of a request that cannot go on, with what to do now. */
export function problemPage({ problem, detail }: ProblemModel): HtmlPage {
  const { status, heading, text } = texts[problem]
  return pageOf({
    title: heading,
    status,
    content: html`<h1>${heading}</h1>
<p>${text}</p>
${detail !== undefined && html`<p class="hint"><bdi>${clientText(detail, 500)}</bdi></p>`}`,
  })
}

const again = 'Go back to the program that you want to connect, and start again there.'

const texts: Record<
  ProblemModel['problem'],
  { readonly status: number; readonly heading: string; readonly text: string }
> = {
  expired: {
    status: 410,
    heading: 'This request has expired',
    text: `Nothing was allowed. ${again}`,
  },
  forged: {
    status: 403,
    heading: 'This form was not sent from our own page',
    text: `Nothing was allowed. Another page may have tried to connect a program in your name. If you did start this yourself, allow cookies for this site. ${again}`,
  },
  answered: {
    status: 409,
    heading: 'This request was already answered',
    text: 'You can close this page. If the program is not connected, start again there.',
  },
  invalid: {
    status: 400,
    heading: 'The program sent an invalid request',
    text: 'Nothing was allowed. Tell those who make the program what is written below.',
  },
  unsafe_return: {
    status: 400,
    heading: 'The address of the program cannot be opened',
    text: 'It is not the address of a website or an app. Do not use this program.',
  },
  too_many: {
    status: 429,
    heading: 'Too many requests for access',
    text: 'Many came from your network. Nothing was allowed. Wait a minute, then start again in the program that you want to connect.',
  },
  failed: {
    status: 500,
    heading: 'This server could not go on',
    text: `Nothing was allowed. ${again} If it fails again, tell the operator of this server.`,
  },
}

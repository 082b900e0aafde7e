import { html } from '../../pages/html.ts'
import type { HtmlPage } from '../../pages/page.ts'
import { quotedUpTo } from '../../text/dialog-text.ts'
import { clientFacts, clientTitle } from './client-in-words.ts'
import { pageOf } from './layout.ts'
import type { ConsentFormModel, ScopeName } from './models.ts'

/** The second step: what the client may do with the account. */
export function consentPage(model: ConsentFormModel): HtmlPage {
  const { client, nothingTicked = false } = model
  const heading = `Allow ${clientTitle(client)} to use your account?`
  return pageOf({
    title: nothingTicked ? `Error: ${heading}` : heading,
    status: nothingTicked ? 422 : 200,
    redirectUri: client.redirectUri,
    content: html`<h1><bdi>${heading}</bdi></h1>
${clientFacts(client)}
<dl><dt>Account</dt><dd>${accountName(model)}</dd></dl>
${form(model)}`,
  })
}

const accountName = ({ account, isSandbox }: ConsentFormModel) =>
  html`<bdi>${
    account.name ? quotedUpTo(account.name, 80) : quotedUpTo(account.id, 80)
  }</bdi>${isSandbox && ' (sandbox: calls are simulated)'}`

const form = (model: ConsentFormModel) => html`<form method="post" action="${model.action}">
<input type="hidden" name="step" value="consent">
<input type="hidden" name="form_token" value="${model.formToken}">
${
  model.nothingTicked &&
  html`<p class="error" id="scope-problem" role="alert">Choose what to allow, or cancel.</p>`
}
<fieldset${model.nothingTicked && html` aria-describedby="scope-problem"`}>
<legend>It may</legend>
${model.asked.map((scope) => choice(scope, model))}
</fieldset>
<p class="hint">Access ends after ${model.days} days at the latest. You can end it before: disconnect it
there, or replace your key.</p>
<div class="buttons">
<button class="main" name="answer" value="allow">Allow</button>
<button name="answer" value="cancel">Cancel</button>
${!model.isSandbox && html`<button name="answer" value="other_key">Use another key</button>`}
</div>
</form>`

const words: Record<ScopeName, { readonly label: string; readonly hint: string }> = {
  read: {
    label: 'Read',
    hint: 'See accounts, agents, phone numbers, SIP trunks, calls, conversations and usage.',
  },
  write: {
    label: 'Change',
    hint: 'Create, change and remove agents, phone numbers, SIP trunks and subaccounts.',
  },
  call: {
    label: 'Place phone calls',
    hint: 'Have agents call people. Calls can cost money.',
  },
}

function choice(scope: ScopeName, { ticked, nothingTicked }: ConsentFormModel) {
  const { label, hint } = words[scope]
  const id = `scope-${scope}`
  return html`<div class="choice">
<input type="checkbox" id="${id}" name="scope" value="${scope}" aria-describedby="${id}-hint"${
    ticked.includes(scope) && html` checked`
  }${nothingTicked && html` aria-invalid="true"`}>
<div><label for="${id}">${label}</label><p class="hint" id="${id}-hint">${hint}</p></div>
</div>`
}

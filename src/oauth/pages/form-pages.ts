import { type Html, type HtmlPage, html } from '../../apps/pages/page.ts'
import { quotedUpTo } from '../../text/dialog-text.ts'
import { clientFacts, clientTitle, pageOf } from './client-in-words.ts'
import type { ConsentFormModel, KeyFormModel, KeyProblem, ScopeName } from './models.ts'

/** First step: the person enters the key of an account. */
export function keyPage(model: KeyFormModel): HtmlPage {
  const { client, problem } = model
  const heading = `Connect ${clientTitle(client)} to your voice agents`
  return pageOf({
    title: problem ? `Error: ${heading}` : heading,
    status: problem ? statusOf[problem.kind] : 200,
    ...(problem?.kind === 'too_many' && {
      headers: { 'retry-after': String(problem.retryAfterSeconds) },
    }),
    redirectUri: client.redirectUri,
    content: html`<h1><bdi>${heading}</bdi></h1>
${clientFacts(client)}
${model.platform === 'sandbox' ? sandboxForm(model) : keyForm(model, model.platform.host)}`,
  })
}

const statusOf: Record<KeyProblem['kind'], number> = {
  missing: 422,
  malformed: 422,
  wrong: 422,
  no_access: 403,
  unreachable: 503,
  too_many: 429,
}

// Enter presses the first button of a form.
const keyForm = (
  model: KeyFormModel,
  host: string,
) => html`<form method="post" action="${model.action}">
${hiddenFields(model)}
${problemText(model.problem)}
<label for="key">API key of the platform</label>
<p class="hint" id="key-hint">Paste your key of ${host}. Whoever manages your account there can give
you one. It is sent to ${host} only, and kept encrypted.</p>
${keyField(model.problem)}
<div class="buttons">
<button class="primary" name="answer" value="continue">Continue</button>
<button name="answer" value="cancel" formnovalidate>Cancel</button>
</div>
</form>`

/**
 * A password field: the key stays hidden, and a password manager can keep it. The field has the
 * focus only when the person corrects a key, so that a screen reader first reads who asks for
 * access.
 */
const keyField = (
  problem: KeyProblem | undefined,
) => html`<input type="password" id="key" name="key"
autocomplete="current-password" autocapitalize="none" spellcheck="false" maxlength="4096" required
${
  problem
    ? html`aria-invalid="${problemIsInKey(problem) ? 'true' : 'false'}" aria-describedby="key-problem key-hint" autofocus`
    : html`aria-describedby="key-hint"`
}>`

const problemIsInKey = ({ kind }: KeyProblem) => kind !== 'unreachable' && kind !== 'too_many'

const sandboxForm = (model: KeyFormModel) => html`<form method="post" action="${model.action}">
${hiddenFields(model)}
${problemText(model.problem)}
<p>This server runs on its built-in sandbox. It has an account of its own, and its calls are simulated:
no phone rings, and nothing costs money.</p>
<div class="buttons">
<button class="primary" name="answer" value="sandbox">Continue with the sandbox account</button>
<button name="answer" value="cancel">Cancel</button>
</div>
</form>`

const hiddenFields = ({
  formToken,
}: KeyFormModel) => html`<input type="hidden" name="step" value="key">
<input type="hidden" name="form_token" value="${formToken}">`

const problemText = (problem: KeyProblem | undefined): Html | undefined =>
  problem && html`<p class="error" id="key-problem" role="alert">${inWords(problem)}</p>`

function inWords(problem: KeyProblem): string {
  switch (problem.kind) {
    case 'missing':
      return 'Enter your API key.'
    case 'malformed':
      return 'This is not an API key of the platform: it has characters that no key has. Copy it again.'
    case 'wrong':
      return 'The platform does not know this key. Copy it again, or ask for a new one.'
    case 'no_access':
      return 'The platform knows this key, but it gives no access here. Use a key of another account, or ask the operator of this server.'
    case 'unreachable':
      return 'The platform did not answer, so the key was not checked. Try again in a minute.'
    case 'too_many':
      return `Too many keys were tried. Try again in ${secondsInWords(problem.retryAfterSeconds)}.`
  }
}

function secondsInWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  if (seconds <= 60) return seconds === 1 ? '1 second' : `${seconds} seconds`
  return `${minutes} minutes`
}

/** Second step: the person chooses what the client may do with the account. */
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
<button class="primary" name="answer" value="allow">Allow</button>
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

import { badge, type Html, html, note } from '../../apps/pages/html.ts'
import {
  clientFacts,
  clientTitle,
  hostName,
  nameInQuotes,
  notPreselected,
  programName,
} from './client-details.ts'
import type {
  ConsentFormModel,
  KeyFormModel,
  KeyProblem,
  OauthPageParts,
  ScopeName,
} from './models.ts'

/** First step: the person enters the key of an account. */
export function keyPage(model: KeyFormModel): OauthPageParts {
  const { client, problem } = model
  const name = clientTitle(client)
  const title = `Connect ${name} to your voice agents`
  return {
    title: problem ? `Error: ${title}` : title,
    status: problem ? statusOf[problem.kind] : 200,
    ...(problem?.kind === 'too_many' && {
      headers: { 'retry-after': String(problem.retryAfterSeconds) },
    }),
    redirectUri: client.redirectUri,
    content: html`<h1>Connect <bdi>${name}</bdi> to your voice agents</h1>
${clientFacts(client)}
${model.platform === 'sandbox' ? sandboxForm(model) : keyForm(model, model.platform.host)}`,
  }
}

const statusOf: Record<KeyProblem['kind'], number> = {
  missing: 422,
  malformed: 422,
  wrong: 422,
  no_access: 403,
  unreachable: 503,
  too_many: 429,
}

// "Continue" comes first, because Enter presses the first button of a form.
const keyForm = (
  model: KeyFormModel,
  host: string,
) => html`<form method="post" action="${model.action}">
${hiddenFields(model)}
${problemText(model.problem)}
<div>
<label for="key">API key of the platform</label>
<p class="hint" id="key-hint">Paste your key for ${hostName(host, '.')} Whoever manages your account there can
give you one. It is sent only to ${hostName(host, ',')} and stored encrypted.</p>
${keyField(model.problem)}
</div>
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
<p>This server runs on its built-in sandbox. Its calls are simulated: no phone rings, and nothing costs
money.</p>
<div class="buttons">
<button class="primary" name="answer" value="sandbox">Continue with the sandbox account</button>
<button name="answer" value="cancel">Cancel</button>
</div>
</form>`

const hiddenFields = ({
  formToken,
  again,
}: KeyFormModel) => html`<input type="hidden" name="step" value="key">
<input type="hidden" name="again" value="${again}">
<input type="hidden" name="form_token" value="${formToken}">`

const problemText = (problem: KeyProblem | undefined): Html | undefined =>
  problem && alert('key-problem', inWords(problem))

/** Error message of a form. Screen readers announce it. */
const alert = (id: string, text: string): Html =>
  html`<div id="${id}" role="alert">${note(text, 'danger')}</div>`

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
export function consentPage(model: ConsentFormModel): OauthPageParts {
  const { client, nothingTicked = false } = model
  const name = clientTitle(client)
  const title = `Allow ${name} to use your account?`
  return {
    title: nothingTicked ? `Error: ${title}` : title,
    status: nothingTicked ? 422 : 200,
    redirectUri: client.redirectUri,
    content: html`<h1>Allow <bdi>${name}</bdi> to use your account?</h1>
${clientFacts(client, accountName(model))}
${form(model)}`,
  }
}

const accountName = ({ account, isSandbox }: ConsentFormModel) =>
  html`<bdi>${nameInQuotes(account.name || account.id, 80)}</bdi>${isSandbox && ' (sandbox)'}`

const form = (model: ConsentFormModel) => html`<form method="post" action="${model.action}">
<input type="hidden" name="step" value="consent">
<input type="hidden" name="again" value="${model.again}">
<input type="hidden" name="form_token" value="${model.formToken}">
${model.nothingTicked && alert('scope-problem', 'Tick what to allow, or cancel.')}
${group(html`It may`, ['read', 'write'], model)}
${group(
  html`Phone calls ${model.isSandbox ? badge('Simulated') : badge('Can cost money', 'warning')}`,
  ['call'],
  model,
)}
<p class="hint">To end this, disconnect the server in ${programName(model.client)}.${
  !model.isSandbox && ' Replacing your API key ends it at once.'
} It ends by itself after ${model.days} days.</p>
<div class="buttons">
<button class="primary" name="answer" value="allow">Allow</button>
<button name="answer" value="cancel">Cancel</button>
${!model.isSandbox && html`<button class="quiet" name="answer" value="other_key">Use another key</button>`}
</div>
</form>`

/**
 * Checkboxes for those of `scopes` that the client requests; `undefined` if it requests none of
 * them.
 */
function group(legend: Html, scopes: readonly ScopeName[], model: ConsentFormModel) {
  const asked = scopes.filter((scope) => model.asked.includes(scope))
  if (asked.length === 0) return undefined
  return html`<fieldset${model.nothingTicked && html` aria-describedby="scope-problem"`}>
<legend>${legend}</legend>
${asked.map((scope) => choice(scope, model))}
</fieldset>`
}

const words: Record<ScopeName, { readonly label: string; readonly hint: string }> = {
  read: {
    label: 'Read',
    hint: 'See accounts, agents, phone numbers, SIP trunks, calls, conversations and usage.',
  },
  write: {
    label: 'Change and remove',
    hint: 'Create, change and remove agents, phone numbers, SIP trunks and subaccounts. A removal can be final: a purchased phone number may be lost for good.',
  },
  call: {
    label: 'Place phone calls',
    hint: 'Have agents call people.',
  },
}

const later = ' You can also allow this later: connect again, and tick it then.'

function choice(scope: ScopeName, { client, ticked, nothingTicked }: ConsentFormModel) {
  const { label, hint } = words[scope]
  const id = `scope-${scope}`
  return html`<div class="choice">
<input type="checkbox" id="${id}" name="scope" value="${scope}" aria-describedby="${id}-hint"${
    ticked.includes(scope) && html` checked`
  }${nothingTicked && html` aria-invalid="true"`}>
<div><label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}${notPreselected(client).includes(scope) && later}</p></div>
</div>`
}

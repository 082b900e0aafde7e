import { html } from '../../pages/html.ts'
import { type HtmlPage, pageOf } from '../../pages/page.ts'
import { script, style } from './style-and-script.ts'
import { longestText, type Phase, phaseInWords, type WebCallState } from './web-call-state.ts'

/**
 * The page of a web call: a person talks with the agent by text, or watches. It works without its
 * script, which reads the state again each second. Lines are texts of others: they are only escaped.
 */
export const webCallPage = (state: WebCallState): HtmlPage =>
  pageOf({
    title: `Call with ${state.agentName} (simulated)`,
    style,
    script,
    formAction: "'self'",
    content: html`<h1>Call with <bdi>${state.agentName}</bdi></h1>
<p class="note">This is the sandbox: the agent is simulated, and no phone rings. You type what you would say.</p>
<p id="phase" role="status">${phaseInWords[state.phase]}</p>
<div id="lines" role="log" aria-label="Conversation" tabindex="0" data-phase="${state.phase}">
${state.messages.map(
  ({ role, message }) =>
    html`<p class="${kindOf(role)}"><b>${speakerOf(role)}</b> <span dir="auto">${message}</span></p>`,
)}
</div>
<p class="error" id="error" role="alert" hidden></p>
<form method="post" data-for="waiting"${hiddenUnless(state, 'waiting')}>
<div class="buttons"><button class="main" name="action" value="join">Join the call</button></div>
</form>
<form method="post" data-for="talking"${hiddenUnless(state, 'talking')}>
<label for="text">Say something</label>
<input id="text" name="text" maxlength="${longestText}" autocomplete="off">
<div class="buttons">
<button class="main" name="action" value="say">Say</button>
<button name="action" value="hang_up">Hang up</button>
</div>
</form>
<noscript><p><a href="?">Show what is new</a></p></noscript>
<p class="hint">get_call and list_conversations show the same: call <code>${state.callId}</code></p>`,
  })

const hiddenUnless = ({ phase }: WebCallState, wanted: Phase) => phase !== wanted && html` hidden`

/** The script has the same words. */
const kindOf = (role: string) => (role === 'user' || role === 'agent' ? role : 'event')
const speakerOf = (role: string) => ({ user: 'You', agent: 'Agent' })[role] ?? 'Event'

/** For an address without a call. */
export const noWebCallPage = (): HtmlPage =>
  pageOf({
    title: 'No such call',
    status: 404,
    content: html`<h1>There is no such call</h1>
<p>Place a web call again, and open its new address. If the sandbox was started afresh, earlier calls are
gone.</p>`,
  })

import { type HtmlPage, html, inline, pageOf, styleOf } from '../../apps/pages/page.ts'
import { longestText, type Phase, phaseInWords, type WebCallState } from './conversation.ts'

/**
 * The page of a web call: a person talks to the agent by text, or watches. The page works without
 * its script, which polls the state every second. Transcript lines are untrusted: they are only
 * escaped.
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
<div class="buttons"><button class="primary" name="action" value="join">Join the call</button></div>
</form>
<form method="post" data-for="talking"${hiddenUnless(state, 'talking')}>
<label for="text">Say something</label>
<input id="text" name="text" maxlength="${longestText}" autocomplete="off">
<div class="buttons">
<button class="primary" name="action" value="say">Say</button>
<button name="action" value="hang_up">Hang up</button>
</div>
</form>
<noscript><p><a href="?">Show what is new</a></p></noscript>
<p class="hint">get_call and list_conversations show the same: call <code>${state.callId}</code></p>`,
  })

const hiddenUnless = ({ phase }: WebCallState, wanted: Phase) => phase !== wanted && html` hidden`

/** The script uses the same kinds. */
const kindOf = (role: string) => (role === 'user' || role === 'agent' ? role : 'event')
const speakerOf = (role: string) => ({ user: 'You', agent: 'Agent' })[role] ?? 'Event'

/** Page for an unknown address. */
export const noWebCallPage = (): HtmlPage =>
  pageOf({
    title: 'No such call',
    status: 404,
    content: html`<h1>There is no such call</h1>
<p>Place a web call again, and open its new address. If the sandbox was started afresh, earlier calls are
gone.</p>`,
  })

const style = styleOf(`
main { max-width: 40rem; }
#lines {
  margin: 0 0 1rem; padding: .5rem; max-height: 60vh; overflow-y: auto;
  display: flex; flex-direction: column; gap: .5rem;
  border: 1px solid var(--line); border-radius: .4rem;
}
#lines:not(:has(p)) { display: none; }
#lines p { max-width: 85%; margin: 0; padding: .4rem .75rem; border-radius: .75rem; background: var(--page); }
#lines b { display: block; font-size: .8rem; color: var(--muted); }
#lines .user { align-self: end; color: var(--on-accent); background: var(--accent); }
#lines .user b { color: inherit; }
#lines .event { align-self: center; background: none; color: var(--muted); font-size: .9rem; }
#lines .event b { display: inline; }
noscript + .hint { margin-top: 1.25rem; }
#text {
  width: 100%; padding: .6rem .75rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem;
}
[hidden] { display: none; }
`)

/** Polls the state every second until the call ends, and sends actions without a reload. */
const script = inline(`
const lines = document.getElementById('lines')
const phases = ${JSON.stringify(phaseInWords)}
const path = location.pathname.replace(/\\/$/, '')
const text = document.getElementById('text')
const error = document.getElementById('error')
let newest = 0
let isAway = false
// Whether an action was sent while the sandbox did not answer: it may be lost.
let isOpen = false
function tell(problem) {
  error.hidden = !problem
  error.textContent = problem || ''
}
function show(state) {
  for (const { role, message } of state.messages.slice(lines.children.length)) {
    const line = document.createElement('p')
    const speaker = document.createElement('b')
    const words = document.createElement('span')
    line.className = role === 'user' || role === 'agent' ? role : 'event'
    speaker.textContent = { user: 'You', agent: 'Agent' }[role] || 'Event'
    words.textContent = message
    words.dir = 'auto'
    line.append(speaker, ' ', words)
    lines.append(line)
    lines.scrollTop = lines.scrollHeight
  }
  if (lines.dataset.phase === state.phase) return
  lines.dataset.phase = state.phase
  document.getElementById('phase').textContent = phases[state.phase]
  for (const form of document.querySelectorAll('form')) form.hidden = form.dataset.for !== state.phase
  if (state.phase === 'talking') text.focus()
}
async function ask(address, options) {
  const mine = ++newest
  try {
    // A language model may take its time to answer what is said; the state is there at once.
    const response = await fetch(address, options || { signal: AbortSignal.timeout(10000) })
    const state = await response.json()
    if (state.messages && mine === newest) show(state)
    // What an action could not do is told until the next one; reading the state takes back only its own.
    const isBack = isAway && isOpen && !options && state.phase !== 'ended'
    if (options || isAway || state.error) tell(state.error || (isBack && 'The sandbox answers again. Your last action may be lost: do it again if it is.'))
    isAway = false
    isOpen = false
    return response.ok
  } catch {
    isAway = true
    if (options && options.body.get('action') !== 'typing') isOpen = true
    tell('The sandbox does not answer. The call is read again until it does.')
    return false
  }
}
const act = (action, said) => ask(path, {
  method: 'POST',
  headers: { accept: 'application/json' },
  body: new URLSearchParams(said === undefined ? { action } : { action, text: said }),
})
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const action = event.submitter ? event.submitter.value : 'say'
    if (action !== 'say') return void act(action)
    const said = text.value.trim()
    if (said === '') return
    text.value = ''
    if (!await act('say', said) && text.value === '') text.value = said
  })
}
let typed = 0
text.addEventListener('input', () => {
  if (Date.now() - typed < 4000) return
  typed = Date.now()
  act('typing')
})
async function watch() {
  if (!document.hidden && lines.dataset.phase !== 'ended') await ask(path + '/state')
  setTimeout(watch, 1000)
}
lines.scrollTop = lines.scrollHeight
watch()
`)

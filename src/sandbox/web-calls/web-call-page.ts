import { type Tone, toneIcons } from '../../apps/design.ts'
import { badge, html, icon } from '../../apps/pages/html.ts'
import { type HtmlPage, inline, pageOf, styleOf } from '../../apps/pages/page.ts'
import { longestText, type Phase, type WebCallState } from './web-call-state.ts'

/** Label and badge tone of each phase. */
const phases: Readonly<Record<Phase, { readonly label: string; readonly tone: Tone }>> = {
  waiting: { label: 'Waiting for you', tone: 'neutral' },
  talking: { label: 'Call in progress', tone: 'info' },
  watching: { label: 'A simulated caller talks', tone: 'info' },
  ended: { label: 'Ended', tone: 'neutral' },
}

/**
 * The page of a web call, on which a person talks to the agent by text, or watches. It works
 * without its script, which polls the state every second. Transcript lines are untrusted and
 * therefore escaped.
 */
export const webCallPage = (state: WebCallState): HtmlPage =>
  pageOf({
    title: `Call with ${state.agentName} (simulated)`,
    style,
    script,
    formAction: "'self'",
    content: html`<header>
<h1><bdi>${state.agentName}</bdi></h1>
<div class="row"><span role="status" id="status">${Object.entries(phases).map(
      ([phase, { label, tone }]) =>
        html`<span data-for="${phase}"${state.phase !== phase && html` hidden`}>${badge(label, tone)}</span>`,
    )}</span>
<span class="number" id="clock" role="timer" aria-label="Length of the call">${inMinutes(state.seconds)}</span></div>
<p class="hint">Simulated: no phone rings.</p>
</header>
<div id="lines" role="log" aria-label="Conversation" tabindex="0" data-phase="${state.phase}">
${state.messages.map(
  ({ role, speaker, message }) =>
    html`<p class="${kindOf(role)}"><b>${speaker}</b> <span dir="auto">${message}</span></p>`,
)}
</div>
<p class="notice" id="error" role="alert" hidden>${icon(toneIcons.warning)}${icon(toneIcons.danger)}<span></span></p>
<form method="post" data-for="waiting"${hiddenUnless(state, 'waiting')}>
<p>You type what you would say. If you do not join, a simulated caller does.</p>
<div class="buttons"><button class="primary" name="action" value="join">${icon('phone')}Join the call</button></div>
</form>
<form method="post" data-for="talking"${hiddenUnless(state, 'talking')}>
<div class="composer">
<label class="unseen" for="text">What you say</label>
<input id="text" name="text" maxlength="${longestText}" autocomplete="off" placeholder="What you say">
<button class="primary" name="action" value="say">Say</button>
<button class="hang-up" name="action" value="hang_up">${icon('phone')}Hang up</button>
</div>
</form>
<div id="end" tabindex="-1" data-for="ended"${hiddenUnless(state, 'ended')}>
<h2>The call lasted <span id="lasted">${inMinutes(state.seconds)}</span></h2>
<p>Back in your assistant, ask what came of it, or for another web call. You can close this page.</p>
</div>
<noscript><p><a href="">Show what is new</a></p></noscript>`,
  })

const hiddenUnless = ({ phase }: WebCallState, wanted: Phase) => phase !== wanted && html` hidden`

/** `m:ss`; `script` writes durations in the same way. */
const inMinutes = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

/** CSS class of a line; `script` uses the same classes. */
const kindOf = (role: string) => (role === 'user' || role === 'agent' ? role : 'event')

/** Page for an unknown address. */
export const noWebCallPage = (): HtmlPage =>
  pageOf({
    title: 'No such call',
    status: 404,
    content: html`<h1>There is no such call</h1>
<p>Place a web call again, and open its new address. If the sandbox was started afresh, earlier calls are
gone.</p>`,
  })

/** The page fills the screen; the conversation takes the space that the other parts leave. */
const style = styleOf(`main {
  display: flex; flex-direction: column; gap: var(--space-4);
  max-width: 40rem; height: 100dvh; min-height: min-content; padding-block: var(--space-5);
}
header { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-4); align-items: center; }
header .row { flex: 1; justify-content: space-between; flex-wrap: nowrap; }
header .hint { flex: 1 0 100%; margin: 0; }
h1 { font-size: var(--size-4); }
#clock { font-size: var(--size-2); }
main:has([data-phase=waiting], [data-phase=ended]) #clock, #lines[data-phase=waiting] { display: none; }
[data-for=waiting] { margin: auto; justify-items: center; text-align: center; }
#lines {
  flex: 1 1 0; min-height: 12rem; overflow-y: auto; border-block: 1px solid var(--line);
  display: flex; flex-direction: column; gap: var(--space-4);
}
/* Lines fade out at an edge beyond which they go on. */
#lines::before, #lines::after {
  content: ''; position: sticky; z-index: 1; flex: none; height: 1.5rem; pointer-events: none;
}
#lines::before { top: 0; margin-bottom: -1.5rem; background: linear-gradient(var(--page), transparent); }
#lines::after { bottom: 0; margin-top: -1.5rem; background: linear-gradient(transparent, var(--page)); }
#lines > :first-child { margin-top: auto; }
/* As in messengers, the reader is at the end. Colours are those of the call's view: src/apps/browser/call/view.css. */
#lines p { display: grid; gap: var(--space-1); justify-items: start; margin: 0; }
#lines b { color: var(--muted); font-size: var(--size-2); font-weight: 400; }
#lines span {
  max-width: 85%; padding: var(--space-2) var(--space-3); border: 1px solid var(--line); border-radius: var(--radius-3);
}
#lines .user { justify-items: end; }
#lines .agent span { border-color: transparent; background: var(--info-page); }
/* The pointed corner is on the speaker's side, whatever the direction of the text. */
#lines .agent span, #lines:dir(rtl) .user span { border-radius: 0 var(--radius-3) var(--radius-3); }
#lines .user span, #lines:dir(rtl) .agent span { border-radius: var(--radius-3) 0 var(--radius-3) var(--radius-3); }
#lines .event { justify-items: center; }
#lines .event span { padding: 0; border: 0; color: var(--muted); font-size: var(--size-2); text-align: center; }
#lines .event b { position: absolute; clip-path: inset(50%); }
#error:not([data-tone=warning]) > :first-child, #error:not([data-tone=danger]) > :nth-child(2) { display: none; }
form { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--space-3); }
.composer { display: flex; flex-wrap: wrap; gap: var(--space-3); }
#text { flex: 1 1 12rem; min-width: 0; min-height: 2.75rem; }
#text::placeholder { color: var(--muted); opacity: 1; }
/* Red in the dark, too, as on a telephone. */
:root { --danger-fill: light-dark(#b3261e, #cf352b); }
.hang-up { margin-inline-start: var(--space-4); border-color: var(--danger-fill); background: var(--danger-fill); color: #ffffff; }
.hang-up .icon { rotate: 135deg; }
#end { display: grid; gap: var(--space-2); outline-offset: var(--space-2); }
#end p { margin: 0; }
[data-for=talking] > .badge .icon, [data-for=watching] > .badge .icon { animation: pulse 1.6s ease-in-out infinite; }
@keyframes pulse { 50% { opacity: .5; } }
@media (hover: hover) { .hang-up:hover { background: color-mix(in srgb, var(--danger-fill), #000000 15%); } }
@media (forced-colors: active) { .hang-up { border-width: 2px; } }
/* Farther from the other button, so that nobody presses it by mistake. */
@media (max-width: 30rem) { .hang-up { flex: 1 1 100%; margin: var(--space-3) 0 0; } }
`)

/** Polls the state every second until the call ends, and sends actions without a reload. */
const script = inline(`
const lines = document.getElementById('lines')
const clock = document.getElementById('clock')
const path = location.pathname.replace(/\\/$/, '')
// '?joined' on a page that has joined the call: the server calls its reader 'You'.
let query = location.search
const text = document.getElementById('text')
const error = document.getElementById('error')
let newest = 0
let isAway = false
// True if an action was sent while the sandbox did not answer.
let mayBeLost = false
function tell(problem, tone = 'warning') {
  error.hidden = !problem
  error.dataset.tone = tone
  // A text that stays is not read out again.
  if (error.lastChild.textContent !== problem) error.lastChild.textContent = problem
}
function showOnly(phase) {
  for (const one of document.querySelectorAll('[data-for]')) one.hidden = one.dataset.for !== phase
}
// Without a connection, hanging up can be tried, but a line would be lost.
function setAway(away) {
  isAway = away
  for (const one of document.querySelectorAll('.primary')) one.ariaDisabled = String(away)
}
function show(state) {
  for (const { role, speaker, message } of state.messages.slice(lines.children.length)) {
    const line = document.createElement('p')
    const name = document.createElement('b')
    const words = document.createElement('span')
    line.className = role === 'user' || role === 'agent' ? role : 'event'
    name.textContent = speaker
    words.textContent = message
    words.dir = 'auto'
    line.append(name, ' ', words)
    lines.append(line)
    lines.scrollTop = lines.scrollHeight
  }
  clock.textContent = Math.floor(state.seconds / 60) + ':' + String(state.seconds % 60).padStart(2, '0')
  if (lines.dataset.phase === state.phase) return
  lines.dataset.phase = state.phase
  const hadFocus = document.activeElement.closest('form')
  document.getElementById('lasted').textContent = clock.textContent
  showOnly(state.phase)
  lines.scrollTop = lines.scrollHeight
  if (state.phase === 'talking') text.focus()
  // The form that had the focus is gone.
  if (state.phase === 'ended' && hadFocus) document.getElementById('end').focus()
}
async function ask(address, options) {
  const mine = ++newest
  try {
    // Actions have no timeout, because a language model may answer slowly; reading the state is
    // fast.
    const response = await fetch(address + query, options || { signal: AbortSignal.timeout(10000) })
    const state = await response.json()
    if (state.messages && mine === newest) show(state)
    // The error of an action is shown until the next action. Reading the state hides only errors of
    // earlier reads.
    const isBack = isAway && mayBeLost && !options && state.phase !== 'ended'
    if (state.error) tell(state.error, 'danger')
    else if (options || isAway) tell(isBack ? 'The connection is back. Your last action may be lost: do it again if it is.' : '')
    const isGone = response.status === 404
    if (isAway || isGone) showOnly(isGone ? 'gone' : lines.dataset.phase)
    setAway(isGone)
    mayBeLost = false
    return response.ok
  } catch {
    setAway(true)
    if (options && options.body.get('action') !== 'typing') mayBeLost = true
    tell('Connection lost. Trying again …' + (lines.dataset.phase === 'talking' ? ' You can send when it is back. Hanging up may not get through until then.' : ''))
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
    if (event.submitter?.ariaDisabled === 'true') return
    const action = event.submitter ? event.submitter.value : 'say'
    if (action === 'join') {
      query = '?joined'
      if (!await act('join')) query = ''
      history.replaceState(null, '', location.pathname + query)
      return
    }
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
// The last line stays visible when an error or a phone's keyboard takes room.
let isAtEnd = true
lines.addEventListener('scroll', () => {
  isAtEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 8
})
new ResizeObserver(() => {
  if (isAtEnd) lines.scrollTop = lines.scrollHeight
}).observe(lines)
watch()
`)

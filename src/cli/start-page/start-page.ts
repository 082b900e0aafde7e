import { type Html, html } from '../../pages/html.ts'
import { type HtmlPage, pageOf } from '../../pages/page.ts'
import type { Access, ClientSteps, StartPageModel } from './model.ts'
import { script, style } from './style-and-script.ts'

/** The page at the root of the HTTP server. It works without its script, which adds buttons. */
export const startPage = (model: StartPageModel): HtmlPage =>
  pageOf({
    title: model.isSandbox ? 'Voice agents (sandbox)' : 'Voice agents',
    style,
    script,
    content: html`<h1>Voice agents for your assistant</h1>
<p>This is a server of the Model Context Protocol (MCP). An assistant that is connected to it can manage
voice agents, phone numbers and calls for you.</p>
${what(model)}
<h2 id="connect">Connect</h2>
<p>The address for every client:</p>
<div class="copied"><code data-copy="the address">${model.url}</code></div>
${inWords[model.access]}
${model.clients.map(steps)}
<p class="hint" role="status" id="said"></p>
<p class="hint">voice-agent-mcp ${model.version}</p>`,
  })

function what({ isSandbox, readiness }: StartPageModel): Html {
  return html`<dl>
<dt>Works with</dt><dd>${
    isSandbox
      ? 'the built-in sandbox: calls are simulated, no phone rings, nothing costs money'
      : 'a real platform: calls ring real phones and cost money'
  }</dd>
<dt>Platform</dt><dd>${
    readiness.platform === 'ok'
      ? html`<span class="good">reachable</span>`
      : html`<span class="bad">not reachable now</span>`
  }</dd>
${
  readiness.state === 'unreachable' &&
  html`<dt>State</dt><dd><span class="bad">not reachable now</span>: nobody can be called</dd>`
}
</dl>`
}

const inWords: Readonly<Record<Access, Html>> = {
  none: html`<p>It needs no key.</p>`,
  key: html`<p>Each request brings an API key of the platform: put yours in place of
<code>YOUR-API-KEY</code>.</p>`,
  local_token: html`<p>The server has an API key of its own, for programs of the user who started it. They
send its local token: put it in place of <code>YOUR-LOCAL-TOKEN</code>. The server prints it when it
starts. A client can send an API key instead, as <code>X-API-Key</code>.</p>`,
  oauth: html`<p>Your assistant opens a page of this server, where you give your API key and say what it
may do. Hosted assistants, such as Claude and ChatGPT, ask for the address in their settings, under
connectors or apps.</p>`,
}

const steps = ({
  id,
  title,
  command,
  link,
  file,
  restart,
}: ClientSteps) => html`<details id="${id}">
<summary>${title}</summary>
${link !== undefined && html`<p><a class="install" href="${link}">Install in ${title}</a></p>`}
${
  command !== undefined &&
  html`<p>In a terminal:</p>
<div class="copied"><code data-copy="the command for ${title}">${command}</code></div>`
}
${
  file
    ? html`<p>${link !== undefined || command !== undefined ? 'Or in' : 'In'} <code>${file.path}</code>:</p>
<div class="copied"><pre><code data-copy="the configuration of ${title}">${file.text}</code></pre></div>
<p>${restart}</p>`
    : html`<p>Its file takes no servers on the network. Add the address as a connector in its settings; it has
to be one that is reachable from the internet. For a server on this computer run
<code>voice-agent-mcp install ${id}</code>.</p>`
}
</details>`

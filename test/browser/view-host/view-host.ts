import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'
import { viewExtension, viewMimeType } from '../../../src/apps/views.ts'
import { bin, cleanEnv, quietly } from '../../harness/program.ts'
import type { Browsing, Frame, Page, PageSettings } from '../open-browser.ts'
import { type HostPages, startHostPages } from './pages.ts'

type Args = Readonly<Record<string, unknown>>

export interface ViewSettings {
  readonly tool: string
  readonly args?: Args
  /** Settings of the server, by environment variable. */
  readonly env?: Record<string, string>
  readonly page?: PageSettings
  /**
   * Host context (MCP Apps, "Host Context"); default: the theme of the page. `withoutTools`,
   * `withoutLinks`, `withoutMessages` and `withoutModelContext` remove a capability; `refuses`
   * refuses links and messages.
   */
  readonly context?: Args
}

/** A view in a test host, connected to a server. */
export interface ShownView extends AsyncDisposable {
  readonly page: Page
  /** Frame of the view. */
  readonly frame: Frame
  /** URLs of all requests other than for the host's own two pages. */
  readonly requests: readonly string[]
  /** Errors on the browser's console, such as a violated policy, and uncaught errors. */
  readonly complaints: readonly string[]
  /** URLs that the view asked the host to open. */
  readonly opened: readonly string[]
  /** Messages that the view sent to the conversation. */
  readonly said: readonly unknown[]
  /** Contexts of the model that the view set (`ui/update-model-context`). */
  readonly modelContexts: readonly unknown[]
  /** Changes the host context, such as `theme` or `containerDimensions`. */
  readonly change: (context: Args) => Promise<void>
  /** Tool calls of the view itself. */
  readonly calls: readonly { readonly name: string; readonly arguments?: Args | undefined }[]
  /** Calls the tool as the model does, and passes the result to the view. */
  readonly run: () => Promise<void>
  /** Calls any tool as the model does. */
  readonly callTool: (name: string, args: Args) => Promise<{ readonly _meta?: unknown }>
  /** Passes any result to the view, also one that no server returns. */
  readonly send: (result: object) => Promise<void>
  /** Text of the view. */
  readonly text: () => Promise<string>
}

const UiTool = z.looseObject({
  name: z.string(),
  _meta: z.looseObject({ ui: z.looseObject({ resourceUri: z.string() }) }),
})
const UiContents = z.looseObject({
  mimeType: z.literal(viewMimeType),
  text: z.string(),
  _meta: z.looseObject({ ui: z.looseObject({ csp: z.unknown() }) }),
})

/**
 * Shows a tool's view as a chat client does: with server, official bridge, sandbox proxy and frame.
 */
export async function showView(
  browser: Browsing,
  { tool, args = {}, env = {}, page: settings = {}, context = {} }: ViewSettings,
): Promise<ShownView> {
  const client = await connectServer(env)
  const { html, csp, info } = await readViewOf(tool, client)
  const pages = await startHostPages()
  const page = await browser.newPage(settings)
  const seen = observe(page, pages)
  const asked = await serveHost(page, client)
  await page.goto(pages.host)
  const theme = settings.colorScheme ?? 'light'
  const toolInfo = { id: 1, tool: info }
  const hostContext = { theme, locale: 'en-GB', timeZone: 'UTC', toolInfo, ...context }
  const opening = { proxy: pages.proxy, html, csp, context: hostContext }
  await page.evaluate(`openView(${asScript(opening)})`)
  await page.evaluate(`bridge.sendToolInput(${asScript({ arguments: args })})`)
  const frame = page.frames().find((one) => one.parentFrame()?.parentFrame())
  if (!frame) throw new Error('There is no frame of the view.')
  const send = async (result: object) => {
    await page.evaluate(`bridge.sendToolResult(${asScript(result)})`)
  }
  return {
    ...{ page, frame, ...seen, ...asked, send },
    change: async (fields) => {
      await page.evaluate(`changeContext(${asScript(fields)})`)
    },
    run: async () => send(await client.callTool({ name: tool, arguments: args })),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    text: () => frame.innerText('main'),
    [Symbol.asyncDispose]: async () => {
      await page.close()
      await client.close()
      await pages[Symbol.asyncDispose]()
    },
  }
}

/** An MCP client that supports views, connected to the built program. */
async function connectServer(env: Record<string, string>): Promise<Client> {
  const client = new Client(
    { name: 'test-host', version: '1' },
    {
      versionNegotiation: { mode: 'legacy' },
      capabilities: { extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } },
    },
  )
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin],
      env: cleanEnv({ VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...env }),
      stderr: 'ignore',
    }),
  )
  return client
}

/** Reads a tool's view: its HTML, its declared origins, and the tool as listed. */
async function readViewOf(tool: string, client: Client) {
  const { tools } = await client.listTools()
  const info = tools.find(({ name }) => name === tool)
  const { _meta } = UiTool.parse(info)
  const { contents } = await client.readResource({ uri: _meta.ui.resourceUri })
  const { text: html, _meta: meta } = UiContents.parse(contents[0])
  return { html, csp: meta.ui.csp, info }
}

/** Records the page's requests, except for the host's two pages, and its errors. */
function observe(page: Page, { host, proxy }: HostPages) {
  const requests: string[] = []
  const complaints: string[] = []
  const own = [host, proxy].flatMap((address) => [address, `${address}favicon.ico`])
  page.on('request', (request) => {
    if (!own.includes(request.url())) requests.push(request.url())
  })
  page.on('console', (message) => {
    const isOurs = message.text().includes('favicon')
    if (message.type() === 'error' && !isOurs) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { requests, complaints }
}

/** Adds the functions that the host page calls, and records the view's requests. */
async function serveHost(page: Page, client: Client) {
  const opened: string[] = []
  const said: unknown[] = []
  const modelContexts: unknown[] = []
  const calls: { name: string; arguments?: Args | undefined }[] = []
  await page.exposeFunction('callTool', (params: { name: string; arguments?: Args }) => {
    calls.push(params)
    return client.callTool(params)
  })
  await page.exposeFunction('opened', (url: string) => void opened.push(url))
  await page.exposeFunction('said', (message: unknown) => void said.push(message))
  await page.exposeFunction('modelContext', (update: unknown) => void modelContexts.push(update))
  return { opened, said, modelContexts, calls }
}

/** A JavaScript expression of a value. */
const asScript = (value: object) => JSON.stringify(value)

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
  /** Settings of the server, by the names of environment variables. */
  readonly env?: Record<string, string>
  readonly page?: PageSettings
  /**
   * What the host says of itself (MCP Apps, "Host Context"); by default the theme of the page.
   * `withoutTools`, `withoutLinks`, `withoutMessages` and `withoutModelContext` take a capability away;
   * `refuses` refuses links and messages.
   */
  readonly context?: Args
}

/** A view that a host shows, with the connection to the server behind it. */
export interface ShownView extends AsyncDisposable {
  readonly page: Page
  /** The frame that the view runs in. */
  readonly frame: Frame
  /** What the browser asked for apart from the host's own two pages. */
  readonly requests: readonly string[]
  /** What the browser complained of, such as a broken policy. */
  readonly complaints: readonly string[]
  /** Pages that the view asked the host to open. */
  readonly opened: readonly string[]
  /** What the view said in the conversation. */
  readonly said: readonly unknown[]
  /** Contexts of the model that the view set (`ui/update-model-context`). */
  readonly modelContexts: readonly unknown[]
  /** Changes what the host says of itself, such as `theme` or `containerDimensions`. */
  readonly change: (context: Args) => Promise<void>
  /** Tool calls of the view itself. */
  readonly calls: readonly { readonly name: string; readonly arguments?: Args | undefined }[]
  /** Calls the tool as the model does, and hands the result to the view. */
  readonly run: () => Promise<void>
  /** Calls any tool as the model does. */
  readonly callTool: (name: string, args: Args) => Promise<{ readonly _meta?: unknown }>
  /** Hands any result to the view, such as one that no server gives. */
  readonly send: (result: object) => Promise<void>
  /** Waits until the view shows a text. */
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

/** Shows the view of a tool as a chat client does: server, official bridge, sandbox proxy, frame. */
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

/** A client with views, connected to the built program. */
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

/** The HTML of a tool's view, the origins that it asks for, and the tool as the server lists it. */
async function readViewOf(tool: string, client: Client) {
  const { tools } = await client.listTools()
  const info = tools.find(({ name }) => name === tool)
  const { _meta } = UiTool.parse(info)
  const { contents } = await client.readResource({ uri: _meta.ui.resourceUri })
  const { text: html, _meta: meta } = UiContents.parse(contents[0])
  return { html, csp: meta.ui.csp, info }
}

/** Notes what the browser asks for besides the two pages of the host, and what it complains of. */
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

/** What the host's page needs of the test: the server's tools, and a place for what the view asks. */
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

/** JSON is an expression of JavaScript. */
const asScript = (value: object) => JSON.stringify(value)

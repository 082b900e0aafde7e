import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Agent, request } from 'undici'
import { seedIds } from '../../../src/sandbox/seed.ts'
import type { Tool } from '../../../src/tool/tool.ts'
import { tools } from '../../../tools/index.ts'

/*
 * Servers to compare with. Each runs in its own process and prints its address:
 * - node compared-servers.ts constant FILE: answers every request with the bytes of a file
 * - node compared-servers.ts platform FILE: the same, but answers /accounts/current with an account
 * - node compared-servers.ts proxy PLATFORM: node:http to undici, replies unchanged
 * - node compared-servers.ts sdk PLATFORM: the official MCP SDK as documented, with every tool
 * - node compared-servers.ts sdk-of-one PLATFORM: the same with only the called tool
 */

const [kind = '', argument = ''] = process.argv.slice(2)

const constant = (file: string): RequestListener => answering(readFileSync(file))

function platform(file: string): RequestListener {
  const account = answering(Buffer.from('{"id":"bench"}'))
  const other = constant(file)
  return (incoming, response) => {
    const answer = incoming.url?.endsWith('/accounts/current') ? account : other
    answer(incoming, response)
  }
}

function answering(bytes: Buffer): RequestListener {
  return (incoming, response) => {
    incoming.resume().once('end', () => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': bytes.length,
      })
      response.end(bytes)
    })
  }
}

/** The request that our server sends to the platform for get_agent. */
const target = `/v1/accounts/me/agents/${seedIds.supportAgent}`
const headers = { 'x-api-key': 'bench-key-0123456789', accept: 'application/json' }

function proxy(platform: string): RequestListener {
  const dispatcher = new Agent()
  return (incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.once('end', async () => {
      JSON.parse(Buffer.concat(chunks).toString())
      const upstream = await request(platform + target, { headers, dispatcher })
      const text = await upstream.body.text()
      response.writeHead(upstream.statusCode, { 'content-type': 'application/json' }).end(text)
    })
  }
}

/** Registers the tools anew for each request. Each tool sends one request to the platform. */
function sdk(platform: string, registered: readonly Tool[]): RequestListener {
  const dispatcher = new Agent()
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'sdk', version: '1.0.0' })
    for (const { name, title, description, input, output } of registered) {
      const config = { title, description, inputSchema: input, outputSchema: output() }
      server.registerTool(name, config, async () => {
        const upstream = await request(platform + target, { headers, dispatcher })
        const text = await upstream.body.text()
        const structuredContent: Record<string, unknown> = JSON.parse(text)
        return { content: [{ type: 'text', text }], structuredContent }
      })
    }
    return server
  })
  const serve = toNodeHandler(handler)
  // Node's type has optional fields as `undefined`; the MCP SDK's type omits them.
  return (incoming, response) => void serve(incoming as NodeIncomingMessageLike, response)
}

const calledTool = tools.filter(({ name }) => name === 'get_agent')

const listeners: Record<string, (argument: string) => RequestListener> = {
  constant,
  platform,
  proxy,
  sdk: (platform) => sdk(platform, tools),
  // Lower bound for a server made with the MCP SDK.
  'sdk-of-one': (platform) => sdk(platform, calledTool),
}
const listener = listeners[kind]?.(argument)
if (!listener) throw new Error(`There is no server ${kind}`)
const server = createServer(listener)
server.keepAliveTimeout = 65_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stderr.write(`Serving at http://127.0.0.1:${port}\n`)
})

import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/*
 * The page of a host, as a chat client is one: it shows a view in a frame with the official bridge.
 * What belongs to the MCP connection is done by the test, which has given this page `callTool`, `opened`
 * and `said`.
 */

const frame = document.querySelector('iframe')

/** Loads a view and waits until it is ready. */
globalThis.openView = async ({ proxy, html, csp, context }) => {
  const capabilities = { openLinks: {}, serverTools: {}, logging: {}, message: { text: {} } }
  if (context.withoutTools) delete capabilities.serverTools
  if (context.withoutMessages) delete capabilities.message
  if (context.withoutLinks) delete capabilities.openLinks
  const bridge = new AppBridge(null, { name: 'test-host', version: '1' }, capabilities, {
    hostContext: context,
  })
  bridge.oncalltool = (params) => globalThis.callTool(params)
  bridge.onopenlink = async ({ url }) => {
    await globalThis.opened(url)
    return context.refuses ? { isError: true } : {}
  }
  bridge.onmessage = async (message) => {
    await globalThis.said(message)
    return context.refuses ? { isError: true } : {}
  }
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) frame.style.height = `${height}px`
  }
  const ready = new Promise((resolve) => {
    bridge.onsandboxready = resolve
  })
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = resolve
  })
  frame.src = proxy
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  await ready
  await bridge.sendSandboxResourceReady({ html, csp })
  await initialized
  globalThis.bridge = bridge
}

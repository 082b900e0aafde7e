import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/*
 * The page of a chat client: shows a view in a frame with the official bridge. The test handles the
 * MCP connection by the global functions `callTool`, `opened`, `said` and `modelContext`.
 */

const frame = document.querySelector('iframe')

/** Capabilities of the host, without those that the test removes. */
const capabilitiesOf = ({ withoutTools, withoutMessages, withoutLinks, withoutModelContext }) => ({
  logging: {},
  ...(!withoutTools && { serverTools: {} }),
  ...(!withoutMessages && { message: { text: {} } }),
  ...(!withoutLinks && { openLinks: {} }),
  ...(!withoutModelContext && { updateModelContext: { text: {} } }),
})

/** Loads a view and waits until it is ready. */
globalThis.openView = async ({ proxy, html, csp, context }) => {
  let shown = context
  const bridge = new AppBridge(null, { name: 'test-host', version: '1' }, capabilitiesOf(context), {
    hostContext: context,
  })
  /** Frame height: fixed by the host, or else as reported, up to the maximum. */
  let reported = 100
  const fitFrame = () => {
    const { height = reported, maxHeight = Number.POSITIVE_INFINITY } =
      shown.containerDimensions ?? {}
    frame.style.height = `${Math.min(height, maxHeight)}px`
  }
  const change = (fields) => {
    shown = { ...shown, ...fields }
    bridge.setHostContext(shown)
    fitFrame()
  }
  bridge.oncalltool = (params) => globalThis.callTool(params)
  bridge.onopenlink = async ({ url }) => {
    await globalThis.opened(url)
    return context.refuses ? { isError: true } : {}
  }
  bridge.onmessage = async (message) => {
    await globalThis.said(message)
    return context.refuses ? { isError: true } : {}
  }
  bridge.onupdatemodelcontext = async (update) => {
    await globalThis.modelContext(update)
    return {}
  }
  bridge.onrequestdisplaymode = async ({ mode }) => {
    // Without that mode, the view keeps its current one.
    if (!shown.availableDisplayModes?.includes(mode)) return { mode: shown.displayMode ?? 'inline' }
    const whole = { width: window.innerWidth, height: window.innerHeight }
    change({
      displayMode: mode,
      containerDimensions: mode === 'fullscreen' ? whole : (context.containerDimensions ?? {}),
    })
    return { mode }
  }
  bridge.onsizechange = ({ height = reported }) => {
    reported = height
    fitFrame()
  }
  const ready = new Promise((resolve) => {
    bridge.onsandboxready = resolve
  })
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = resolve
  })
  frame.src = proxy
  fitFrame()
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  await ready
  await bridge.sendSandboxResourceReady({ html, csp })
  await initialized
  globalThis.bridge = bridge
  globalThis.changeContext = change
}

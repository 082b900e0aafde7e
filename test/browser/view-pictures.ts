import type { Picture } from './picture.ts'
import { agentPictures } from './picture-agent.ts'
import { callPictures } from './picture-call.ts'
import { decisionPictures } from './picture-decision.ts'
import { usagePictures } from './picture-usage.ts'
import { voicesPictures } from './picture-voices.ts'

/** A failure as the server reports it, with a text for models. */
export const busy = {
  isError: true,
  content: [{ type: 'text', text: 'get_it failed: HTTP 503.\nNext: Wait and call it again.' }],
  _meta: {
    'voice-agent-mcp/error': { kind: 'rejected', advice: 'unavailable', retryable: true },
  },
}

/** Style variables of a host with warm colours, serifs, larger radii and larger text. */
const hostVariables = {
  '--color-text-primary': 'light-dark(#3d2b1f, #f3e9dc)',
  '--color-text-secondary': 'light-dark(#6b5444, #c9b8a4)',
  '--color-background-primary': 'light-dark(#fffaf2, #241c17)',
  '--color-background-secondary': 'light-dark(#f5ebdc, #33281f)',
  '--color-border-primary': 'light-dark(#9a8265, #8f7a63)',
  '--color-border-tertiary': 'light-dark(#e6d8c3, #4a3b2f)',
  '--color-ring-primary': 'light-dark(#8a4b00, #ffb454)',
  '--border-radius-sm': '0.75rem',
  '--border-radius-md': '1rem',
  '--border-radius-lg': '1.25rem',
  '--font-text-xs-size': '0.8125rem',
  '--font-text-sm-size': '0.9375rem',
  '--font-sans': 'Georgia, serif',
}

/** States that every view has: what differs from its first picture. */
const commonStates: Readonly<Record<string, Partial<Picture>>> = {
  loading: { ready: '.skeleton', act: async () => undefined },
  failed: { ready: '.state.failed', act: (view) => view.send(busy) },
  'failure-details': {
    ready: '.state.failed pre',
    async act(view) {
      await view.send(busy)
      await view.frame.click('#details')
    },
  },
  expandable: { context: { availableDisplayModes: ['inline', 'fullscreen'] } },
  'host-theme': { context: { styles: { variables: hostVariables } } },
  'forced-colours': { page: { forcedColors: 'active' } },
  zoomed: { page: { deviceScaleFactor: 2 }, isZoomed: true },
}

/** Pictures of all views. The first of each is in the documents. */
export const viewPictures: readonly Picture[] = [
  usagePictures,
  callPictures,
  voicesPictures,
  agentPictures,
  decisionPictures,
].flatMap((own) => [
  ...own,
  ...own.slice(0, 1).flatMap((first) =>
    Object.entries(commonStates).map(([state, more]) => ({
      ...{ ...first, ...more, name: `${first.name}-${state}` },
    })),
  ),
])

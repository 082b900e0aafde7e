import { plainText } from '../../../text/safe-text.ts'
import { button } from '../shared/controls.ts'
import { h, icon, outwardArrow } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import type { CallData } from './data.ts'

/** The recording of a call. The host opens it, because a view has no network access. */
export interface Recording {
  /** The button that opens it, or its address where the host opens no links. */
  readonly element: HTMLElement
  /** Opens the recording at a second of the call; `undefined` if the host opens no links. */
  readonly openAt: ((seconds: number) => void) | undefined
}

/** Addresses of recordings that the host has refused to open. */
const unopened = new Set<string>()

export function recordingOf(
  { capture }: CallData,
  { host, redraw }: Page<CallData>,
): Recording | undefined {
  const url = capture?.recording_url
  if (!url) return undefined
  if (!isWebAddress(url) || !host.canOpenLinks() || unopened.has(url)) {
    const label = h('span', { class: 'muted' }, 'Recording ')
    // People can still copy the address.
    return { element: h('p', {}, label, h('bdi', {}, plainText(url))), openAt: undefined }
  }
  const open = (address: string) =>
    host.openLink(address).catch(() => {
      unopened.add(url)
      redraw()
    })
  return {
    element: button([icon('play'), 'Recording', outwardArrow()], () => open(url), {
      ...{ id: 'recording', title: 'Opens in the browser' },
    }),
    openAt(seconds) {
      const address = new URL(url)
      // A media fragment (W3C Media Fragments URI): the browser's player starts at this second.
      address.hash = `t=${Math.max(0, Math.floor(seconds))}`
      void open(address.href)
    },
  }
}

const isWebAddress = (url: string) => /^https?:\/\//.test(url) && URL.canParse(url)

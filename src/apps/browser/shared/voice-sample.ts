import { plainText } from '../../../text/safe-text.ts'
import { button, copyable } from './controls.ts'
import { type Content, fill, h, icon, outwardArrow } from './dom.ts'
import type { Host } from './host.ts'

interface SampleOptions {
  readonly id: string
  /** Name of the voice. */
  readonly name: string
  /** The sample's address; `undefined` if the voice has none. May reject with a reason. */
  readonly find: () => Promise<URL | undefined>
  /** Shows the outcome to the user. */
  readonly status: HTMLElement
  readonly host: Host
}

/**
 * A button that lets the host open a voice's sample, because a view has no network access. If the
 * host opens no links, the button shows the address to copy.
 */
export function sampleButton({ id, name, find, status, host }: SampleOptions): HTMLElement {
  const isOpened = host.canOpenLinks()
  const show = async () => {
    status.textContent = 'Looking for the sample …'
    fill(status, await open())
  }
  async function open(): Promise<Content> {
    try {
      const sample = await find()
      if (!sample) return 'This voice has no sample.'
      if (!isOpened) return ['This client opens no links. ', addressOf(sample)]
      return await host.openLink(sample.href).then(
        () => `Opened at ${sample.host}.`,
        () => ['The client did not open the sample. ', addressOf(sample)],
      )
    } catch (error) {
      const why = error instanceof Error ? plainText(error.message).slice(0, 300) : ''
      return `The sample could not be looked up. ${why}`
    }
  }
  const addressOf = ({ href }: URL) => {
    const news = h('span')
    const announce = (text: string) => {
      news.textContent = ` ${text}`
    }
    const what = `the address of the sample of ${name}`
    return [
      'Address of the sample: ',
      copyable(href, { id: `address-${id}`, what, announce }),
      news,
    ]
  }
  return button(
    [icon('play'), h('span', { class: 'word' }, 'Sample'), isOpened && outwardArrow()],
    show,
    {
      ...{ id, class: 'play', 'aria-label': `Open sample of ${name}` },
      title: isOpened && 'Opens in the browser',
    },
  )
}

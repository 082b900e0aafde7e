import type { Page } from './open-browser.ts'
import type { ShownView } from './view-host/view-host.ts'

/** A view in one of its states, as it is pictured. */
export interface Picture {
  /** The view and the state, such as `usage` or `usage-empty`. */
  readonly name: string
  readonly open: () => Promise<PicturedPlatform>
  /** What is there when the view is drawn. */
  readonly ready: string
  /** What the host says of itself. */
  readonly context?: Readonly<Record<string, unknown>>
  /** What happens in the view; by default the tool is called as by the model. */
  readonly act?: (view: ShownView) => Promise<void>
}

/** A platform with made-up data, and the call of the tool whose view is pictured. */
interface PicturedPlatform extends AsyncDisposable {
  readonly url: string
  readonly call: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
}

/** A page for people, as it is pictured. */
export interface PagePicture {
  readonly name: string
  /** Starts what serves the page, opens it, and does what a person would do. */
  readonly show: (page: Page) => Promise<AsyncDisposable>
}

export const pictureAccount = '00000000-0000-4000-8001-000000000001'

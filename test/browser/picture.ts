import type { Page, PageSettings } from './open-browser.ts'
import type { ShownView } from './view-host/view-host.ts'

interface AnyPicture {
  /** Name of the view or page and its state, such as `usage` or `usage-empty`. */
  readonly name: string
  /** Settings of the browser, such as forced colours. */
  readonly page?: PageSettings
  /**
   * A zoom of 200 %, with the device scale factor 2 in `page`. At 360 pixels the text is doubled,
   * as phones do.
   */
  readonly isZoomed?: boolean
}

/** A screenshot of a view in one state. */
export interface Picture extends AnyPicture {
  readonly open: () => Promise<PicturedPlatform>
  /** Selector of an element that appears when the view is drawn. */
  readonly ready: string
  /** Further settings of the server, by environment variable. */
  readonly env?: Record<string, string>
  /** Host context, as in ViewSettings. */
  readonly context?: Readonly<Record<string, unknown>>
  /**
   * What happens before the screenshot; default: the tool is called, and the view gets the result.
   */
  readonly act?: (view: ShownView) => Promise<void>
  /** What happens before each screenshot, such as a key: a new width or theme draws the view again. */
  readonly point?: (view: ShownView) => Promise<void>
}

/** A fake platform, and the tool call whose view is shown. */
interface PicturedPlatform extends AsyncDisposable {
  readonly url: string
  readonly call: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
}

/** A screenshot of a page for people. */
export interface PagePicture extends AnyPicture {
  /** Starts the page's server, opens the page and acts as a person. The result stops the server. */
  readonly show: (page: Page) => Promise<AsyncDisposable>
}

export const pictureAccount = '00000000-0000-4000-8001-000000000001'

import type { ShownView } from './view-host.ts'

/** Ids of the elements in a view's tab order. */
export async function tabOrder({ frame, page }: ShownView): Promise<unknown[]> {
  const order: unknown[] = []
  await frame.evaluate('document.body.tabIndex = -1, document.body.focus()')
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press('Tab')
    const id = await frame.evaluate('document.hasFocus() ? document.activeElement.id : ""')
    if (!id) return order
    order.push(id)
  }
  throw new Error(`The tabulator key stays in the view: ${order.slice(0, 20).join(', ')} …`)
}

import * as z from 'zod'
import type { Page } from './open-browser.ts'

/**
 * Runs in the page. Collects the visible lines of text: a line is cut where a box hides a part of it
 * that nobody can scroll to, and overlaps another if both share more than a few pixels.
 */
const script = `(() => {
  const tolerance = 3
  const short = (text) => text.trim().slice(0, 30)
  const isUnseen = (element) =>
    !element.checkVisibility() ||
    (function clipped(one) {
      return one !== null && (getComputedStyle(one).clipPath !== 'none' || clipped(one.parentElement))
    })(element)
  const shared = (one, other) => ({
    left: Math.max(one.left, other.left),
    right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top),
    bottom: Math.min(one.bottom, other.bottom),
  })
  const flaws = new Set()
  const lines = []
  if (document.documentElement.scrollWidth > innerWidth) flaws.add('The page is too wide.')
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { currentNode: node } = walker
    const { parentElement: element, textContent: text } = node
    if (text.trim() === '' || isUnseen(element)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) {
      let { left, right, top, bottom } = rect
      for (let box = element; box !== null; box = box.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(box)
        if (overflowX === 'visible' && overflowY === 'visible') continue
        const part = shared({ left, right, top, bottom }, box.getBoundingClientRect())
        const isCut =
          (overflowX === 'hidden' && part.right - part.left < right - left - tolerance) ||
          (overflowY === 'hidden' && part.bottom - part.top < bottom - top - tolerance)
        if (isCut) flaws.add('Cut: ' + short(text))
        ;({ left, right, top, bottom } = part)
      }
      if (left < -tolerance || right > innerWidth + tolerance) flaws.add('Outside: ' + short(text))
      const line = { text, left, right, top, bottom }
      for (const other of lines) {
        const both = shared(line, other)
        if (both.right - both.left > tolerance && both.bottom - both.top > tolerance)
          flaws.add('Overlap: ' + short(text) + ' / ' + short(other.text))
      }
      lines.push(line)
    }
  }
  return [...flaws]
})()`

/** Texts of a page that are cut, outside the window, or over each other. */
export const layoutFlaws = async (page: Pick<Page, 'evaluate'>): Promise<string[]> =>
  z.array(z.string()).parse(await page.evaluate(script))

/** Windows in which text of double size has to fit: a desktop at a zoom of 200 %, and a phone. */
export const largeTextWindows = [
  { width: 640, height: 400 },
  { width: 360, height: 640 },
] as const

/** Doubles the text of a page, as a reader's setting does. */
export const doubleText = (page: Pick<Page, 'evaluate'>): Promise<unknown> =>
  page.evaluate("document.documentElement.style.fontSize = '200%'")

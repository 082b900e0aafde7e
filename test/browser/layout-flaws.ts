import * as z from 'zod'
import type { Page } from './open-browser.ts'

/**
 * Runs in the page. Collects the visible lines of text. A line is cut where a box hides a part of it
 * that nobody can scroll to; it overlaps another if they share more than a few pixels. A short word
 * that takes two lines, or a longer one that takes three, is in a place that is too narrow.
 */
const script = `(() => {
  const tolerance = 3
  const short = (text) => text.trim().slice(0, 30)
  /** Whether an element or one of those around it has this style. */
  const hasStyle = (element, test) =>
    element !== null && (test(getComputedStyle(element)) || hasStyle(element.parentElement, test))
  const isUnseen = (element) =>
    !element.checkVisibility() || hasStyle(element, ({ clipPath }) => clipPath !== 'none')
  // Text under a fixed head or foot of a table is scrolled to.
  const isSticky = (element) => hasStyle(element, ({ position }) => position === 'sticky')
  const wordsIn = (text) =>
    text.trim().split(/\\s+/).reduce((sum, { length }) => sum + Math.ceil(length / 8), 0)
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
    const rects = range.getClientRects()
    const isShortWord = /^[^\\s\\u00ad]{1,10}$/.test(text.trim())
    if (isShortWord && rects.length > 1) flaws.add('Broken word: ' + short(text))
    if (rects.length >= 3 * wordsIn(text)) flaws.add('Letters below each other: ' + short(text))
    for (const rect of rects) {
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
      if (isSticky(element)) continue
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

/** Texts of a page that are cut, outside the window, over each other, or broken into letters. */
export const layoutFlaws = async (page: Pick<Page, 'evaluate'>): Promise<string[]> =>
  z.array(z.string()).parse(await page.evaluate(script))

/** Windows in which text of double size has to fit: a desktop at a zoom of 200 %, and a phone. */
export const largeTextWindows = [
  { width: 640, height: 400 },
  { width: 360, height: 640 },
] as const

/**
 * Doubles the text of a page, as a reader's setting does. Resolves after the page has been laid out
 * again: tables and charts follow the text size one frame later.
 */
export const doubleText = (page: Pick<Page, 'evaluate'>): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    document.documentElement.style.fontSize = '200%'
    const after = (frames) =>
      frames === 0 ? resolve() : requestAnimationFrame(() => after(frames - 1))
    after(3)
  })`)

/*
 * uPlot creates a number format in the browser's language on load. In the locale POSIX that is
 * `en-US@posix`, which is no language tag: the view would not start.
 */
try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' })
}

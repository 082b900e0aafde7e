/*
 * uPlot makes a number format of the browser's language when it is loaded. Where a browser runs in the
 * locale POSIX, its language is `en-US@posix`, which is no language tag: the view would not start.
 */
try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' })
}

import { h } from '../shared/dom.ts'
import { linesOf } from './labels.ts'

/** What may be a mistake. */
export const warningList = (warnings: readonly string[] | undefined): HTMLElement | false =>
  warnings !== undefined &&
  warnings.length > 0 &&
  h(
    'ul',
    { class: 'warnings', 'aria-label': 'Warnings' },
    warnings.map((warning) => h('li', {}, h('strong', {}, 'Warning: '), linesOf(warning))),
  )

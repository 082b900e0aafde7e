import { h, shadeEdges } from './dom.ts'
import type { Failure } from './failure.ts'

/** The text of a failed result, folded; false if it has none. */
export const failureDetails = ({ details }: Failure): HTMLElement | false =>
  details !== '' &&
  h(
    'details',
    { class: 'small' },
    h('summary', { id: 'details' }, 'Details'),
    shadeEdges(h('pre', { dir: 'auto' }, details)),
  )

import type { ViewName } from './views.ts'

/** What people read of each view. A file of its own: the first answer over stdio needs none of it. */
export const viewTitles: Readonly<
  Record<ViewName, { readonly title: string; readonly description: string }>
> = {
  usage: {
    title: 'Usage over time',
    description: 'Usage as a chart, with the same figures in a table.',
  },
  call: {
    title: 'A call',
    description: 'A call as a timeline with its transcript; one that goes on is followed.',
  },
  voices: {
    title: 'Voices',
    description: 'Voices to choose from, with filters and samples to listen to.',
  },
  agent: {
    title: 'An agent',
    description: 'An agent as a card, with what changed before and after; many agents at once too.',
  },
}

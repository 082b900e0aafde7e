/* Icons of views and pages. Each is one stroke in the colour of the text, in a box of 16 by 16. */

/** Paths of the icons. */
export const iconShapes = {
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.2',
  dot: 'M8 5.25a2.75 2.75 0 1 1 0 5.5 2.75 2.75 0 0 1 0-5.5M8 6.75a1.25 1.25 0 1 1 0 2.5 1.25 1.25 0 0 1 0-2.5M8 8h.01',
  circle: 'M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3',
  search: 'M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8M10 10l3.5 3.5',
  expand: 'M9.5 2.5h4v4M13 3 9 7M6.5 13.5h-4v-4M3 13l4-4',
  shrink: 'M13.5 6.5h-4v-4M10 6l3.5-3.5M2.5 9.5h4v4M6 10l-3.5 3.5',
  play: 'M5 3.5v9l7-4.5z',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  phone: 'M4.5 2.5 6.5 6 5.3 7.2a8 8 0 0 0 3.5 3.5L10 9.5l3.5 2v2c-6 .5-11.5-5-11-11z',
} as const
export type IconName = keyof typeof iconShapes

/** Tones of statuses and notes. */
export type Tone = 'success' | 'warning' | 'danger' | 'info' | 'neutral'

/** Icon of each tone, so that a tone is readable without its colour. */
export const toneIcons: Readonly<Record<Tone, IconName>> = {
  success: 'check',
  warning: 'warning',
  danger: 'cross',
  info: 'dot',
  neutral: 'circle',
}

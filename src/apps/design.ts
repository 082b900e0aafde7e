/*
 * Style of everything that people see: the views (MCP Apps) and the pages. Sizes are rem, so that text follows the
 * reader's settings; colours are pairs for light and dark. The host's variables (MCP Apps, "Theming") win over ours.
 */

/** Custom properties of views and pages: colours, type, space and radius. */
export const designTokens = `
:root {
  color-scheme: light dark;
  --text: var(--color-text-primary, light-dark(#16181d, #ededef));
  --muted: var(--color-text-secondary, light-dark(#5a606b, #a3a8b2));
  --page: var(--color-background-primary, light-dark(#ffffff, #1b1c1f));
  --raised: var(--color-background-secondary, light-dark(#f5f6f8, #26282c));
  --line: var(--color-border-tertiary, light-dark(#e2e4e9, #373a40));
  --control: var(--color-border-primary, light-dark(#868c98, #767b85));
  --focus: var(--color-ring-primary, var(--accent));
  --accent: light-dark(#2f55d4, #93adff);
  --on-accent: light-dark(#ffffff, #0d1530);
  --danger: var(--color-text-danger, light-dark(#b3261e, #ff9b93));
  --danger-page: var(--color-background-danger, light-dark(#fdeceb, #3a1c1a));
  --warning: var(--color-text-warning, light-dark(#7a4a00, #f0c365));
  --warning-page: var(--color-background-warning, light-dark(#fff3d9, #33280f));
  --success: var(--color-text-success, light-dark(#0f6b3a, #74d69d));
  --success-page: var(--color-background-success, light-dark(#e6f5ec, #173020));
  --info: var(--color-text-info, var(--accent));
  --info-page: var(--color-background-info, light-dark(#ebf0ff, #1c2643));
  --space-1: .25rem;
  --space-2: .5rem;
  --space-3: .75rem;
  --space-4: 1rem;
  --space-5: 1.5rem;
  --radius-1: var(--border-radius-sm, .375rem);
  --radius-2: var(--border-radius-md, .5rem);
  --radius-3: var(--border-radius-lg, .75rem);
  --size-1: var(--font-text-xs-size, .75rem);
  --size-2: var(--font-text-sm-size, .875rem);
  --size-3: var(--font-text-md-size, 1rem);
  --size-4: var(--font-heading-lg-size, 1.25rem);
  --size-5: var(--font-heading-xl-size, 1.5rem);
  --medium: var(--font-weight-medium, 500);
  --bold: var(--font-weight-semibold, 600);
  --sans: var(--font-sans, system-ui, sans-serif);
  --mono: var(--font-mono, ui-monospace, monospace);
}`

/** Base style of the elements in views and pages. */
export const designBase = `
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0; color: var(--text); background: var(--page);
  font: var(--size-2) / 1.45 var(--sans); overflow-wrap: anywhere;
}
h1, h2, h3 { margin: 0; line-height: 1.3; font-weight: var(--bold); }
h1 { font-size: var(--size-4); text-wrap: balance; }
h2 { font-size: var(--size-3); }
h3 { font-size: var(--size-2); }
p, dl, dd, figure { margin: 0; }
code, pre { font-family: var(--mono); font-size: .93em; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
button, .button, select, input:not([type="checkbox"]), textarea {
  min-height: 2.25rem; padding: .3125rem .75rem; border: 1px solid var(--control); border-radius: var(--radius-1);
  background: var(--page); color: inherit; font: inherit;
}
button, .button {
  display: inline-flex; align-items: center; justify-content: center; gap: var(--space-2);
  font-weight: var(--medium); text-decoration: none; cursor: pointer;
}
button:hover, .button:hover { background: var(--raised); }
button:is(:disabled, [aria-disabled="true"]) { opacity: .55; cursor: default; }
button.primary, .button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
/* A chevron: the triangle stands for playing. */
summary { list-style: none; cursor: pointer; }
summary::-webkit-details-marker { display: none; }
summary::before {
  content: ""; display: inline-block; flex: none; width: .4em; height: .4em; margin-inline: .15em .6em;
  border: solid; border-width: 0 .1em .1em 0; vertical-align: .15em; rotate: -45deg;
}
summary:dir(rtl)::before { rotate: 135deg; }
details[open] > summary::before { rotate: 45deg; }
button.danger { border-color: var(--danger); color: var(--danger); }
button.quiet { border-color: transparent; background: none; color: var(--accent); }
@media (hover: hover) {
  button.primary:hover:not(:disabled, [aria-disabled="true"]), .button.primary:hover { background: color-mix(in srgb, var(--accent), var(--text) 15%); }
  button.danger:hover:not(:disabled, [aria-disabled="true"]) { background: var(--danger-page); }
}
@media (pointer: coarse) {
  button, .button, select, input:not([type="checkbox"]), summary { min-height: 2.75rem; }
}
.muted { color: var(--muted); }
.small { font-size: var(--size-1); }
.number { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
.row { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-3); align-items: center; }
.badge {
  display: inline-flex; align-items: center; gap: .375em; padding: .0625rem .5rem; border-radius: 99rem;
  background: var(--raised); color: var(--muted); font-size: var(--size-1); font-weight: var(--medium); line-height: 1.6;
}
.icon { flex: none; width: 1em; height: 1em; vertical-align: -.125em; }
.notice { padding: var(--space-2) var(--space-3); border-radius: var(--radius-2); background: var(--raised); }
[data-tone="success"] { color: var(--success); background: var(--success-page); }
[data-tone="warning"] { color: var(--warning); background: var(--warning-page); }
[data-tone="danger"] { color: var(--danger); background: var(--danger-page); }
[data-tone="info"] { color: var(--info); background: var(--info-page); }
/* Narrower than a phone, as with large text: values are below their names. */
@container (max-width: 15rem) {
  dl.facts { grid-template-columns: minmax(0, 1fr); row-gap: 0; }
  dl.facts dd + dt { margin-top: var(--space-2); }
}
[hidden] { display: none !important; }
@media (forced-colors: active) {
  .badge, .notice { border: 1px solid; }
  button.primary, .button.primary { border-width: 2px; }
}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation: none !important; transition: none !important; }
}`

/**
 * Style of checkboxes. Browsers draw a free box in the dark as they draw a disabled one. With forced
 * colours, the browser's own box is used.
 */
export const checkboxStyle = `
@media (forced-colors: none) {
  input[type="checkbox"] {
    appearance: none; display: grid; place-content: center; border: 1px solid var(--control);
    border-radius: .25em; background: var(--page);
  }
  input[type="checkbox"]:checked { border-color: var(--accent); background: var(--accent); }
  input[type="checkbox"]:checked::before {
    content: ""; width: .35rem; height: .65rem; margin-top: -.125rem; border: solid var(--on-accent);
    border-width: 0 .125rem .125rem 0; rotate: 45deg;
  }
  input[type="checkbox"]:disabled { border-style: dashed; background: var(--raised); opacity: .6; }
}`

/** Icons by name: the path of one stroke, in a box of 16 by 16. */
export const iconShapes = {
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.2',
  dot: 'M8 5.25a2.75 2.75 0 1 1 0 5.5 2.75 2.75 0 0 1 0-5.5M8 6.75a1.25 1.25 0 1 1 0 2.5 1.25 1.25 0 0 1 0-2.5M8 8h.01',
  circle: 'M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3',
  lock: 'M4 7.5h8v5.5H4zM5.75 7.5V5.25a2.25 2.25 0 0 1 4.5 0V7.5',
  draft: 'M3 13l.75-3L10.5 3.25l2.25 2.25L6 12.25zM9 4.75 11.25 7',
  clock: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M8 5v3.2l2 1.3',
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

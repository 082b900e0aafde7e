/**
 * Jinja2 3.1 in TypeScript: parses, analyses and renders templates, with the results of Python's
 * implementation as far as a template can observe them.
 */
export { analyse, unknownVariables } from './analysis/analyse.ts'
export { branchesOf, type Outcome } from './branches/branches.ts'
export { TemplateError } from './error.ts'
export { render } from './render/render.ts'

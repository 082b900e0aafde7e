/**
 * Jinja2 3.1 in TypeScript: parsing, static analysis and rendering of templates, in agreement with
 * Python's own as far as templates can tell.
 */
export { analyse, unknownVariables } from './analysis/analyse.ts'
export { branchesOf, type Outcome } from './branches/branches.ts'
export { TemplateError } from './error.ts'
export { render } from './render/render.ts'

/**
 * Jinja2 3.1 in TypeScript: parsing, static analysis and rendering of templates, in agreement with
 * Python's own as far as templates can tell.
 */
export {
  type AnalyseOptions,
  type Analysis,
  analyse,
  type Issue,
  type Variable,
} from './analysis/analyse.ts'
export { unknownVariables } from './analysis/known-variables.ts'
export { TemplateError, type TemplateErrorType } from './error.ts'
export { type RenderOptions, render } from './render/render.ts'
export { type ParseOptions, parse } from './syntax/parse.ts'
export type { Template } from './syntax/tree.ts'

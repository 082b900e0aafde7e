import type { Block, CallBlock, For, Macro, Statement, Template } from '../syntax/tree.ts'
import type { Names } from './names.ts'
import type { Report } from './report.ts'
import type { Special } from './specials.ts'

/** Frames of a loop; `extended` loops have a `loop` variable. */
export type LoopFrames = {
  readonly body: Names
  readonly test: Names
  readonly otherwise: Names
  readonly extended: boolean
}

export type MacroFrame = { readonly names: Names; readonly specials: readonly Special[] }

export type BlockFrame = {
  readonly block: Block
  readonly names: Names
  readonly specials: readonly Special[]
}

/** A template with the frames of all its parts: what analysis reports on and rendering runs on. */
export type Compiled = {
  readonly template: Template
  readonly root: Names
  readonly usesSelf: boolean
  readonly blocks: ReadonlyMap<string, BlockFrame>
  readonly loops: ReadonlyMap<For, LoopFrames>
  readonly macros: ReadonlyMap<Macro | CallBlock, MacroFrame>
  /** Frames of `with`, `set` blocks, `filter` blocks and `autoescape`. */
  readonly scopes: ReadonlyMap<Statement, Names>
  readonly report: Report
}

import { Callable, Thing, type Value } from '../python/values.ts'

/** `self`: calling one of its attributes renders the block of that name once more. */
export class TemplateReference extends Thing {
  readonly typeName = 'jinja2.runtime.TemplateReference'
  private readonly blocks: ReadonlySet<string>
  private readonly render: (name: string) => Value

  constructor(blocks: ReadonlySet<string>, render: (name: string) => Value) {
    super()
    this.blocks = blocks
    this.render = render
  }

  /** Blocks are items of it, not attributes, so they may start with an underscore. */
  override item(key: Value): Value | undefined {
    if (typeof key !== 'string' || !this.blocks.has(key)) return undefined
    return new Callable(key, () => this.render(key))
  }

  override repr(): string {
    return '<TemplateReference None>'
  }
}

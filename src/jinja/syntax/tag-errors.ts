import { TemplateError } from '../error.ts'
import type { TokenStream } from './stream.ts'
import { quote } from './text.ts'

type Endings = readonly (readonly string[])[]

/** Names that only have a meaning inside a block; elsewhere they are misplaced, not unknown. */
const blockParts: ReadonlySet<string> = new Set([
  ...['elif', 'else', 'endif', 'endfor', 'endset', 'endwith', 'endmacro', 'endcall'],
  ...['endfilter', 'endautoescape', 'endblock', 'endraw'],
])

/** Raises Jinja2's explanation of a tag that does not exist, or not here. */
export function unknownTag(
  name: string,
  line: number,
  endings: Endings,
  openTags: readonly string[],
): never {
  const message = explain(`Encountered unknown tag ${quote(name)}.`, name, endings, openTags)
  const type = blockParts.has(name) ? 'syntax_error' : 'undefined_tag'
  throw new TemplateError(type, message, line)
}

/** Raises Jinja2's explanation of a template that ends inside a block. */
export function unexpectedEnd(
  stream: TokenStream,
  endings: Endings,
  openTags: readonly string[],
): never {
  stream.fail(explain('Unexpected end of template.', null, endings, openTags))
}

function explain(
  what: string,
  name: string | null,
  endings: Endings,
  openTags: readonly string[],
): string {
  const parts = [what]
  const wanted = endings.at(-1)?.map(quote).join(' or ')
  if (wanted !== undefined) {
    const isOuterEnd = name !== null && endings.some((names) => names.includes(name))
    parts.push(
      isOuterEnd
        ? 'You probably made a nesting mistake. Jinja is expecting this tag, ' +
            `but currently looking for ${wanted}.`
        : `Jinja was looking for the following tags: ${wanted}.`,
    )
  }
  const innermost = openTags.at(-1)
  if (innermost !== undefined) {
    parts.push(`The innermost block that needs to be closed is ${quote(innermost)}.`)
  }
  return parts.join(' ')
}

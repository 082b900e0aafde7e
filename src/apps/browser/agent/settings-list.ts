import { isEmptyValue, isObject } from '../../../text/json.ts'
import { counted } from '../../../text/labels.ts'
import { type Content, factList, folded, h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { agentDefaults } from './agent-defaults.ts'
import {
  fullLabelOf,
  groups,
  labelNodes,
  labelOf,
  longestBeside,
  valueText,
} from './field-display.ts'

/**
 * All settings of an agent: those that differ from the platform's defaults, those without a
 * documented default, metadata and, folded, all that are at the default or empty. Settings for which
 * `isLeftOut` is true are shown elsewhere.
 */
export function settingSections(
  settings: readonly (readonly [name: string, value: unknown])[],
  isLeftOut: (path: string, value: unknown) => boolean,
  formats: Formats,
): Content {
  const rows = settings
    .flatMap(([name, value]) => rowsOf([name], value))
    .filter(({ path, value }) => !isLeftOut(path, value))
  const [usual, own] = [rows.filter(isUsual), rows.filter((row) => !isUsual(row))]
  return [
    sectionNames.map((name) => {
      const some = own.filter((row) => sectionOf(row) === name)
      return some.length > 0 && [h('h2', {}, name), settingList(some, formats, name)]
    }),
    usual.length > 0 &&
      folded('defaults', defaultsText(usual.length), settingList(usual, formats, 'defaults')),
  ]
}

const sectionNames = ['Changed from the default', 'Also set', 'Metadata'] as const

const sectionOf = ({ path, usual }: Row): (typeof sectionNames)[number] =>
  path.startsWith('metadata')
    ? 'Metadata'
    : usual === undefined
      ? 'Also set'
      : 'Changed from the default'

const defaultsText = (count: number) => `${counted(count, 'setting')} at the default or empty`

interface Row {
  readonly path: string
  readonly value: unknown
  /** The platform's default; `undefined` if none is documented. */
  readonly usual: unknown
}

/** Maximum rows in the list of settings. Metadata alone may have any number of fields. */
const maxRows = 100

/** Rows of a long list that are not folded. */
const openRows = 30
/** Maximum rows of a list that is not folded. */
const maxOpenRows = 36

/** Maximum depth of nested rows; deeper objects are shown as JSON. */
const deepest = 3

function rowsOf(path: readonly string[], value: unknown): Row[] {
  const isTakenApart = isObject(value) && path.length < deepest
  if (!isTakenApart || Object.keys(value).length === 0)
    return [{ path: path.join('.'), value, usual: defaultAt(path) }]
  return Object.entries(value).flatMap(([name, field]) => rowsOf([...path, name], field))
}

const defaultAt = (path: readonly string[]) =>
  path.reduce<unknown>(
    (fields, name) => (isObject(fields) && Object.hasOwn(fields, name) ? fields[name] : undefined),
    agentDefaults,
  )

/**
 * True for the platform's default; without a documented default, for an empty value, null or false.
 */
const isUsual = ({ value, usual }: Row): boolean =>
  usual === undefined ? value === false || isEmptyValue(value) : value === usual

/** Settings in the order of their groups, metadata last. `id` is part of the ids of the summaries. */
function settingList(rows: readonly Row[], formats: Formats, id: string): Content {
  const order = Object.keys(groups).filter((name) => name !== 'metadata')
  const placeOf = ({ path }: Row) => {
    const [first = ''] = path.split('.')
    const at = order.indexOf(first)
    if (at >= 0) return at
    return path === first ? order.length : order.length + (first === 'metadata' ? 2 : 1)
  }
  const sorted = rows.toSorted((one, other) => placeOf(one) - placeOf(other)).slice(0, maxRows)
  const isFolded = sorted.length > maxOpenRows
  const list = (some: readonly Row[]) => factList(some.map((row) => settingFact(row, formats)))
  return [
    list(isFolded ? sorted.slice(0, openRows) : sorted),
    isFolded &&
      folded(
        `rows-${id}`,
        counted(sorted.length - openRows, 'more setting'),
        list(sorted.slice(openRows)),
      ),
    rows.length > maxRows &&
      h(
        'p',
        { class: 'muted' },
        `${formats.number(rows.length - maxRows)} more fields are not shown`,
      ),
  ]
}

/** A setting, and the platform's default beside it if it differs. */
const settingFact = ({ path, value, usual }: Row, formats: Formats) =>
  [
    labelNodes(path.startsWith('metadata.') ? labelOf(path) : fullLabelOf(path)),
    [
      settingValue(valueText(path, value, formats)),
      usual !== undefined &&
        usual !== value &&
        h('span', { class: 'muted' }, ` (default:\u00a0${valueText(path, usual, formats)})`),
    ],
  ] as const

const settingValue = (text: string): HTMLElement =>
  h('span', { class: text.length > longestBeside ? 'value long' : 'value', dir: 'auto' }, text)

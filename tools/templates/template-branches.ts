import * as z from 'zod'
import { knownVariables } from '../../src/contract/template.ts'
import type { Outcome } from '../../src/jinja/index.ts'
import { firstCharacters } from '../../src/text/safe-text.ts'
import { variablePaths } from '../../src/tool/checks/greeting-check.ts'
import {
  renderLimits,
  spokenGreetingInWords,
  variablesOf,
} from '../../src/tool/checks/spoken-greeting.ts'

type Variables = Readonly<Record<string, unknown>>

export const branchesShape = {
  branches: z
    .array(z.object({ when: z.string(), spoken: z.string() }))
    .optional()
    .describe('What each branch says.'),
  assumed: z.array(z.string()).optional().describe('Variables taken as given in branches.'),
  not_tried: z.string().optional().describe('Cases that branches leave out.'),
}

type TemplateBranches = z.output<z.ZodObject<typeof branchesShape>>

/**
 * Maximum steps of the template engine for all renderings of one template together; about 50 ms.
 */
const maxSteps = 500_000

/** Maximum number of branches shown. */
const maxOutcomes = 40

/** Maximum length of a value, characters. */
const maxValue = 60

/**
 * True for a variable that may lack a value: a field of a contact, or a variable that the customer
 * defined. The platform does not document what it passes for a contact's missing field, so both no
 * value and an empty text are tried.
 */
const isOptional = (path: string) =>
  path.startsWith('contact.') ||
  !knownVariables.some((known) => known === path || known.startsWith(`${path}.`))

/** The text of a template in each of its branches; empty if there is only one text. */
export async function templateBranches(
  template: string,
  testVariables: Variables,
): Promise<TemplateBranches> {
  const { branchesOf, TemplateError } = await import('../../src/jinja/index.ts')
  try {
    const { outcomes, unreached, isPartial, variables } = branchesOf(
      template,
      variablesOf({ testVariables }),
      { ...renderLimits, maxSteps, isOptional, alsoTried: { current_datetime: timesOfDay() } },
    )
    if (outcomes.length < 2 && unreached.length === 0) return {}
    const given = new Set(variablePaths(testVariables))
    const assumed = variables.filter((path) => !given.has(path))
    const notTried = [
      unreached.length > 0 &&
        `no value tried leads to the branch on line ${unreached.join(', ')}: give one in test_variables`,
      isPartial && 'there are more combinations than were tried',
      outcomes.length > maxOutcomes && `${outcomes.length - maxOutcomes} more branches`,
    ].filter((text) => text !== false)
    return {
      branches: outcomes.slice(0, maxOutcomes).map(inWords),
      ...(assumed.length > 0 && { assumed }),
      ...(notTried.length > 0 && { not_tried: notTried.join('; ') }),
    }
  } catch (error) {
    if (error instanceof TemplateError) return {}
    throw error
  }
}

/** One time each in the morning, afternoon, evening and night of today, UTC. */
const timesOfDay = () =>
  ['09', '14', '19', '23'].map((hour) => `${new Date().toISOString().slice(0, 10)}T${hour}:00:00Z`)

function inWords({ ways, hasMoreWays, rendered, gaps }: Outcome) {
  const when = [...ways.map(wayInWords), ...(hasMoreWays ? ['in other cases'] : [])].join('; or ')
  const spoken =
    'error' in rendered
      ? ({ kind: 'fails', error: rendered.error.message, empty: gaps } as const)
      : ({ kind: 'spoken', text: rendered.text, empty: gaps, ...asWritten } as const)
  return { when, spoken: spokenGreetingInWords(spoken) }
}

/**
 * Single branches do not name the variables that the platform fills: the line above all branches
 * does.
 */
const asWritten = { fromPlatform: [], isReworded: false } as const

/** Maximum number of given variables that a branch names. */
const maxGiven = 4

function wayInWords(way: Outcome['ways'][number]): string {
  const all = [...way].map(([path, values]) => {
    const texts = new Set(values.map((value) => valueInWords(value, path)))
    return { path, text: `${path} ${[...texts].join(' or ')}` }
  })
  const isGiven = ({ path, text }: (typeof all)[number]) => text === `${path} given`
  if (all.length === 0) return 'always'
  if (all.filter(isGiven).length <= maxGiven) return all.map(({ text }) => text).join(', ')
  const others = all.filter((one) => !isGiven(one))
  return [
    ...others.map(({ text }) => text),
    `${others.length > 0 ? 'the others' : 'all'} given`,
  ].join(', ')
}

function valueInWords(value: { readonly value: unknown } | 'absent', path: string): string {
  if (value === 'absent') return 'not given'
  const isStandIn = value.value === `[${path}]`
  const isFilled = typeof value.value === 'object' && value.value !== null
  if (isStandIn || (isFilled && JSON.stringify(value.value) !== '[]')) return 'given'
  return firstCharacters(JSON.stringify(value.value), maxValue)
}

/** The branches as lines for a model. */
export function branchLines({
  branches = [],
  assumed = [],
  not_tried,
}: TemplateBranches): string[] {
  if (branches.length === 0) return []
  const taken = assumed.length > 0 ? `; assumed to be filled: ${assumed.join(', ')}` : ''
  return [
    `Branches, with values of this tool that lead there${taken}:`,
    ...branches.map(({ when, spoken }) => `- ${when}: ${spoken}`),
    ...(not_tried === undefined ? [] : [`Not shown: ${not_tried}.`]),
  ]
}

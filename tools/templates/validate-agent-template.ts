import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { knownVariables, TemplateValidation } from '../../src/contract/template.ts'
import type { Outcome } from '../../src/jinja/index.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { firstCharacters } from '../../src/text/safe-text.ts'
import {
  renderLimits,
  type SpokenGreeting,
  spokenGreeting,
  spokenGreetingInWords,
  variablePaths,
  variablesOf,
} from '../../src/tool/checks/greeting.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { idOf } from '../../src/tool/references/names-to-ids.ts'
import { badArgument } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import type { TemplateFindings } from './template-repair.ts'

const branchesShape = {
  branches: z
    .array(z.object({ when: z.string(), spoken: z.string() }))
    .optional()
    .describe('What each branch says.'),
  assumed: z.array(z.string()).optional().describe('Variables taken as given in branches.'),
  not_tried: z.string().optional().describe('Cases that branches leave out.'),
}

type TemplateBranches = z.output<z.ZodObject<typeof branchesShape>>

const options = {
  agent_id: z.string().min(1).optional().describe('Agent whose greeting to check instead.'),
  test_variables: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Sample values, used in every branch.'),
}

type TemplateRun = Run<typeof routes.templates.validate, typeof options>

/** Validates a template on the platform. Adds further mistakes, a repair, and the spoken texts. */
export const validateAgentTemplate = defineTool({
  name: 'validate_agent_template',
  title: 'Check a template',
  description:
    'Checks a Jinja template for a greeting or prompt, or the greeting of an agent. Returns errors, the repaired text if the repair is obvious, unknown variables, and what is spoken in every branch: with each variable, without it, empty. Saves nothing; use it before create_agent and update_agent.',
  route: routes.templates.validate,
  options,
  schema: TemplateValidation.extend({
    also_found: z
      .array(z.object({ line: z.int().nullable(), message: z.string() }))
      .optional()
      .describe('Found by this tool, not by the platform.'),
    repaired: z.string().optional().describe('The text to save, repaired by this tool.'),
    repairs: z.array(z.string()).optional().describe('What was changed in it.'),
    spoken: z.string().optional().describe('As this tool renders it with test_variables.'),
    ...branchesShape,
  }),
  async run(run) {
    const { message, mode } = await greetingGiven(run)
    const template = typeof message === 'string' ? message : ''
    const reply = await validate(run, template)
    // Imported here, so that the template engine is loaded only when a template is validated.
    const { repairTemplate } = await import('./template-repair.ts')
    const found = repairTemplate(template)
    const repaired = await acceptedRepair(run, found)
    const { test_variables: testVariables = {} } = run.options
    if (!reply.valid && repaired === undefined)
      return resultOf({ reply, found, repaired, spoken: undefined, branches: {} })
    const text = repaired ?? template
    const [spoken, branches] = await Promise.all([
      spokenGreeting({ message: text, mode }, { testVariables }),
      templateBranches(text, testVariables),
    ])
    return resultOf({ reply, found, repaired, spoken: inWords(spoken), branches })
  },
})

/**
 * The template to validate: the given one, or the greeting of the given agent. Throws Refused and
 * ApiError.
 */
async function greetingGiven(run: TemplateRun): Promise<NonNullable<Agent['initial_message']>> {
  const { template = '' } = run.request.body
  const { agent_id: given } = run.options
  if (given === undefined) return { message: template }
  if (template !== '') throw badArgument('template', 'give it or agent_id, not both')
  const agent_id = await idOf('agent_id', given, run)
  const params = { account_id: accountIn(run.request), agent_id }
  const agent = await run.session.client.call(routes.agents.get, { params, query: {} }, run.signal)
  return agent.initial_message ?? {}
}

/**
 * Describes what the agent will say first. If the template fails to render, also says what the
 * sandbox does with such a call: the reference does not say what the platform does.
 */
const inWords = (spoken: SpokenGreeting): string =>
  `${spokenGreetingInWords(spoken)}${spoken.kind === 'fails' ? '; the sandbox places a call all the same, without its greeting; what the platform does is not documented' : ''}`

/** Sends the template to the platform. Variables with a sample value count as known. */
function validate(run: TemplateRun, template: string): Promise<TemplateValidation> {
  const { request, options: given, session, signal } = run
  const known = variablePaths(given.test_variables ?? {})
  const allowed_variables = [...(request.body.allowed_variables ?? []), ...known]
  const sent = { ...request.body, template, ...(known.length > 0 && { allowed_variables }) }
  return session.client.call(routes.templates.validate, { ...request, body: sent }, signal)
}

/** The repair, if the platform accepts it. */
async function acceptedRepair(
  run: TemplateRun,
  { repaired }: TemplateFindings,
): Promise<string | undefined> {
  if (repaired === undefined) return undefined
  try {
    return (await validate(run, repaired)).valid ? repaired : undefined
  } catch (error) {
    if (error instanceof ApiError && !run.signal?.aborted) return undefined
    throw error
  }
}

interface TemplateResult {
  readonly reply: TemplateValidation
  readonly found: TemplateFindings
  readonly repaired: string | undefined
  readonly spoken: string | undefined
  readonly branches: TemplateBranches
}

function resultOf({ reply, found, repaired, spoken, branches }: TemplateResult) {
  const { valid, errors, warnings, variables } = reply
  const alsoFound = found.problems
    .filter((problem, i) => !isReported(problem, i, reply))
    .map(({ line, message }) => ({ line, message }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  return {
    structured: {
      ...reply,
      ...(alsoFound.length > 0 && { also_found: alsoFound }),
      ...(repaired !== undefined && { repaired, repairs: [...found.changes] }),
      ...(spoken !== undefined && { spoken }),
      ...branches,
    },
    lines: [
      `The template is ${valid ? 'valid: it renders' : 'not valid'}.`,
      ...errors.map((issue) => `Error: ${issueInWords(issue)}`),
      ...warnings.map((issue) => `Warning: ${issueInWords(issue)}`),
      ...alsoFound.map((issue) => `Found by this tool: ${issueInWords(issue)}`),
      ...(repaired === undefined
        ? []
        : [
            `Repaired by this tool (${found.changes.join('; ')}), valid for the platform; to save: ${JSON.stringify(repaired)}`,
          ]),
      ...(spoken === undefined
        ? []
        : [
            `Spoken${repaired === undefined ? '' : ' when repaired'} (rendered by this tool): ${spoken}`,
          ]),
      ...branchLines(branches),
      ...(variables.length > 0 ? [`Variables: ${variables.join(', ')}`] : []),
    ],
  }
}

/**
 * True if the platform also reports this problem. Both the platform and this tool parse from the
 * top, so their first error is the same, perhaps with another message.
 */
const isReported = (
  { type, line, message }: TemplateFindings['problems'][number],
  i: number,
  { errors, warnings }: TemplateValidation,
): boolean =>
  (i === 0 && errors.length > 0 && type !== 'single_braces') ||
  [...errors, ...warnings].some(
    (reported) => reported.line === line && reported.message === message,
  )

const issueInWords = ({
  line,
  message,
}: {
  readonly line?: number | null | undefined
  readonly message: string
}) => (typeof line === 'number' ? `line ${line}: ${message}` : message)

/*
 * The branches of a template: what is spoken with each variable, without it, and with an empty one.
 */

type Variables = Readonly<Record<string, unknown>>

/**
 * Maximum steps of the template engine for all renderings of one template together; about 50 ms.
 */
const maxSteps = 500_000

/** Maximum number of branches shown. */
const maxBranches = 40

/** Maximum length of a value, characters. */
const maxValueLength = 60

/**
 * True for a variable that may lack a value: a field of a contact, or a variable that the customer
 * defined. The platform does not document what it passes for a contact's missing field, so both no
 * value and an empty text are tried.
 */
const isOptional = (path: string) =>
  path.startsWith('contact.') ||
  !knownVariables.some((known) => known === path || known.startsWith(`${path}.`))

/** The text of a template in each of its branches; empty if there is only one text. */
async function templateBranches(
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
      outcomes.length > maxBranches && `${outcomes.length - maxBranches} more branches`,
    ].filter((text) => text !== false)
    return {
      branches: outcomes.slice(0, maxBranches).map(branchInWords),
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

function branchInWords({ ways, hasMoreWays, rendered, gaps }: Outcome) {
  const when = [...ways.map(wayInWords), ...(hasMoreWays ? ['in other cases'] : [])].join('; or ')
  const spoken =
    'error' in rendered
      ? ({ kind: 'fails', error: rendered.error.message, empty: gaps } as const)
      : ({ kind: 'spoken', text: rendered.text, empty: gaps, ...asWritten } as const)
  return { when, spoken: spokenGreetingInWords(spoken) }
}

/** The result names the variables that the platform fills once, above the branches. */
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
  return firstCharacters(JSON.stringify(value.value), maxValueLength)
}

/** The branches as lines for a model. */
function branchLines({ branches = [], assumed = [], not_tried }: TemplateBranches): string[] {
  if (branches.length === 0) return []
  const taken = assumed.length > 0 ? `; assumed to be filled: ${assumed.join(', ')}` : ''
  return [
    `Branches, with values of this tool that lead there${taken}:`,
    ...branches.map(({ when, spoken }) => `- ${when}: ${spoken}`),
    ...(not_tried === undefined ? [] : [`Not shown: ${not_tried}.`]),
  ]
}

import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { TemplateValidation } from '../../src/contract/template.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { variablePaths } from '../../src/tool/checks/greeting-check.ts'
import {
  type SpokenGreeting,
  spokenGreeting,
  spokenGreetingInWords,
} from '../../src/tool/checks/spoken-greeting.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { idOf } from '../../src/tool/references/names-to-ids.ts'
import { badArgument } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import { branchesShape, branchLines, templateBranches } from './template-branches.ts'
import type { TemplateFindings } from './template-repair.ts'

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
  const { template = '' } = run.body
  const { agent_id: given } = run.options
  if (given === undefined) return { message: template }
  if (template !== '') throw badArgument('template', 'give it or agent_id, not both')
  const agent_id = await idOf('agent_id', given, run)
  const params = { account_id: accountIn(run.request), agent_id }
  const agent = await run.session.client.call(routes.agents.get, { params, query: {} }, run.signal)
  return agent.initial_message ?? {}
}

/**
 * Describes what the agent will say first. If the template fails to render, adds what the sandbox then does with a call,
 * because the reference does not say what the platform does.
 */
const inWords = (spoken: SpokenGreeting): string =>
  `${spokenGreetingInWords(spoken)}${spoken.kind === 'fails' ? '; the sandbox places a call all the same, without its greeting; what the platform does is not documented' : ''}`

/** Sends the template to the platform. Variables with a sample value count as known. */
function validate(run: TemplateRun, template: string): Promise<TemplateValidation> {
  const { request, body, options: given, session, signal } = run
  const known = variablePaths(given.test_variables ?? {})
  const allowed_variables = [...(body.allowed_variables ?? []), ...known]
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
  readonly branches: Parameters<typeof branchLines>[0]
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

import * as z from 'zod'
import { routes } from '../../src/contract/routes.ts'
import { TemplateValidation } from '../../src/contract/template.ts'
import { ApiError } from '../../src/platform/failure.ts'
import {
  type SpokenGreeting,
  spokenGreetingInWords,
  spokenText,
  variablePaths,
} from '../../src/tool/checks/greeting-check.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import type { Run } from '../../src/tool/tool.ts'
import type { TemplateFindings } from './repair-template.ts'

const options = {
  test_variables: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Sample values for what would be spoken.'),
}

type TemplateRun = Run<typeof routes.templates.validate, typeof options>

/** Platform's validation, with further findings: more mistakes, a repair, the spoken text. */
export const validateAgentTemplate = defineTool({
  name: 'validate_agent_template',
  title: 'Check a template',
  description:
    'Checks a Jinja template for a greeting or prompt. Returns errors, the repaired text if the repair is obvious, unknown variables and what would be spoken. Saves nothing; use it before create_agent and update_agent.',
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
  }),
  async run(run) {
    const template = run.body.template ?? ''
    const reply = await validate(run, template)
    // The template engine is loaded with the first template.
    const { repairTemplate } = await import('./repair-template.ts')
    const found = repairTemplate(template)
    const repaired = await acceptedRepair(run, found)
    const isSpeakable = reply.valid || repaired !== undefined
    const { test_variables: testVariables = {} } = run.options
    const spoken = isSpeakable
      ? await spokenText(repaired ?? template, { testVariables })
      : undefined
    return resultOf({ reply, found, repaired, spoken: spoken && inWords(spoken) })
  },
})

/** The effect of a failure on a call is undocumented; the sandbox shows one possibility. */
const inWords = (spoken: SpokenGreeting): string =>
  `${spokenGreetingInWords(spoken)}${spoken.kind === 'fails' ? '; the sandbox places a call all the same, without its greeting; what the platform does is not documented' : ''}`

/** Variables with a sample value are known. */
function validate(run: TemplateRun, template: string): Promise<TemplateValidation> {
  const { request, body, options: given, session, signal } = run
  const known = variablePaths(given.test_variables ?? {})
  const allowed_variables = [...(body.allowed_variables ?? []), ...known]
  const sent = { ...request.body, template, ...(known.length > 0 && { allowed_variables }) }
  return session.client.call(routes.templates.validate, { ...request, body: sent }, signal)
}

/** A repair is offered only if the platform accepts it. */
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
}

function resultOf({ reply, found, repaired, spoken }: TemplateResult) {
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
      ...(variables.length > 0 ? [`Variables: ${variables.join(', ')}`] : []),
    ],
  }
}

/** Both parse from the top, so the first error is the same, perhaps with another message. */
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

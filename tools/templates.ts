import { routes } from '../src/contract/routes.ts'
import { validateTemplateSteps } from '../src/flows/templates/validate-template.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'

export const validateAgentTemplate = defineTool({
  name: 'validate_agent_template',
  title:
    'Check a greeting or prompt template (Jinja): errors, mistakes, unknown variables, placeholders filled',
  description:
    'Checks a Jinja template for a greeting or prompt: errors, the repaired text where that is obvious, unknown variables, what would be spoken. Saves nothing; use it before create_agent and update_agent.',
  route: routes.templates.validate,
  steps: validateTemplateSteps,
})

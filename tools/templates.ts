import { routes } from '../src/contract/routes.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'

export const validateAgentTemplate = defineTool({
  name: 'validate_agent_template',
  title:
    'Check a greeting or prompt template (Jinja): errors, mistakes, unknown variables, placeholders',
  description:
    'Checks a Jinja template for a greeting or prompt: errors with lines, variables it reads, and those the platform does not know. Saves nothing; use it before create_agent and update_agent.',
  route: routes.templates.validate,
})

import { routes } from '../contract/routes.ts'
import { dynamicPrefix, knownVariables } from '../contract/template.ts'
import { analyse, unknownVariables } from '../jinja/index.ts'
import { templateLimits } from './agent-call-settings.ts'
import { on } from './operation-handler.ts'

export const templateHandlers = [
  on(routes.templates.validate, ({ body: { template = '', allowed_variables } }) => {
    const { valid, errors, warnings, variables } = analyse(template, templateLimits)
    const allowed = [...knownVariables, `${dynamicPrefix}*`, ...(allowed_variables ?? [])]
    const unknown = unknownVariables(
      // `contact` alone is valid, because known variables begin with `contact.`.
      variables.filter(({ path }) => !knownVariables.some((known) => known.startsWith(`${path}.`))),
      allowed,
    )
    return {
      valid,
      errors: [...errors],
      warnings: [...warnings, ...unknown],
      variables: variables.map(({ path }) => path),
      unknown_variables: unknown.flatMap(({ variable }) => (variable === null ? [] : [variable])),
    }
  }),
]

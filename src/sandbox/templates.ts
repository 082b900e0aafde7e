import { routes } from '../contract/routes.ts'
import { dynamicPrefix, knownVariables } from '../contract/template.ts'
import { on } from './handler.ts'

export const templateHandlers = [
  on(routes.templates.validate, ({ body }) => {
    throw new Error('pending')
  }),
]

import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'

export const getPhoneNumber = defineTool({
  name: 'get_phone_number',
  title: 'Show a phone number',
  description: 'Returns one phone number with trunk, inbound agent and spam reputation.',
  route: routes.phoneNumbers.get,
})

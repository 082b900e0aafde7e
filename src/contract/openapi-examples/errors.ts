import { type ErrorEnvelope, type ErrorStatus, errorCodes, type FieldError } from '../error.ts'
import { type Examples, exampleIds, exampleLine } from './ids.ts'

function error(
  status: ErrorStatus,
  message: string,
  more: { detail?: string; errors?: FieldError[] } = {},
): ErrorEnvelope {
  return { code: errorCodes[status], message, detail: null, errors: null, ...more }
}

export const errorExamples: Examples = {
  'error.400': error(400, 'The body is not valid JSON.'),
  'error.401': error(401, 'The X-API-Key header is missing.'),
  'error.403.no_access': error(403, 'The API key has no access to this account.'),
  'error.403.disabled': error(403, 'The account is disabled and takes no changes.'),
  'error.404.in_path': error(404, 'Agent not found.', { detail: 'No agent with id none.' }),
  'error.404.in_body': error(404, 'SIP trunk not found.', {
    detail: 'body.sip_trunk_id: no SIP trunk with id none in this account.',
  }),
  'error.409.number_taken': error(
    409,
    `The number ${exampleLine.number} is in this account already.`,
    { detail: `It has the id ${exampleIds.number}.` },
  ),
  'error.409.trunk_in_use': error(409, 'The SIP trunk still has phone numbers.', {
    detail: `Unlink or delete them first: ${exampleLine.number}.`,
  }),
  'error.422': error(422, 'The request is not valid.', {
    errors: [
      { field: 'body.transcriber', message: 'Field required.', type: 'missing' },
      { field: 'query.limit', message: 'Expected 1 or more.', type: 'value_error' },
    ],
  }),
  'error.429': error(429, 'Too many requests.'),
  'error.500': error(500, 'The platform failed.'),
}

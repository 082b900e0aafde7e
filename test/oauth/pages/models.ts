import type { ConsentFormModel, KeyFormModel } from '../../../src/oauth/pages/models.ts'

/** Model of the key page for an ordinary client. */
export const keyForm: KeyFormModel = {
  page: 'key',
  client: {
    name: 'Example Chat',
    known: 'by_document',
    id: 'https://chat.example/client.json',
    redirectUri: 'https://chat.example/callback',
  },
  action: '/oauth/interaction/abc',
  formToken: 'token-1',
  again: 'client_id=c&state=s',
  platform: { host: 'api.platform.example' },
}

/** Model of the consent page for the same client. */
export const consentForm: ConsentFormModel = {
  page: 'consent',
  client: keyForm.client,
  action: keyForm.action,
  formToken: 'token-2',
  again: keyForm.again,
  account: { id: 'acc-1', name: 'Example Clinic' },
  isSandbox: false,
  asked: ['read', 'write', 'call'],
  ticked: ['read', 'write'],
  days: 365,
}

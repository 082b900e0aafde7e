interface Words {
  /** Labels of the buttons. */
  readonly yes: string
  readonly no: string
  readonly isDangerous?: boolean
  /** Consequence to know before the answer. */
  readonly note?: string
}

const otherWords: Words = { yes: 'Go ahead', no: 'Do not' }

const costs = 'Calls cost money and cannot be hung up from here.'

const browserCall: Words = {
  yes: 'Open the call',
  no: 'Do not open it',
  note: 'A browser call rings no telephone, but may cost money.',
}

const deletes = 'A deletion cannot be undone.'

const words: Readonly<Record<string, Words>> = {
  place_call: { yes: 'Place the call', no: 'Do not call', note: costs },
  place_calls: { yes: 'Place the calls', no: 'Do not call', note: costs },
  archive_agent: {
    ...{ yes: 'Archive', no: 'Keep' },
    note: 'An archived agent can be restored, if the platform takes it.',
  },
  delete_phone_number: {
    ...{ yes: 'Delete', no: 'Keep', isDangerous: true },
    note: `${deletes} A purchased number is released, and may be lost for good.`,
  },
  delete_sip_trunk: { yes: 'Delete', no: 'Keep', isDangerous: true, note: deletes },
  update_subaccount: {
    ...{ yes: 'Save', no: 'Keep as it is' },
    note: 'A disabled subaccount can be enabled again.',
  },
  update_agent: { yes: 'Save', no: 'Keep as it is' },
}

/** Labels and note of a decision, by its tool and facts. */
export function decisionWords(tool: string, facts: Readonly<Record<string, string>>): Words {
  const isBrowserCall = tool === 'place_call' && !('To' in facts)
  const { note, ...labels } = isBrowserCall ? browserCall : (words[tool] ?? otherWords)
  // A call in the sandbox costs nothing. It has a fact that says so.
  return 'Sandbox' in facts || note === undefined ? labels : { ...labels, note }
}

/** Words of one tool. `effect` is a subject and a participle. */
export interface ToolWords {
  readonly answers: readonly [yes: string, no: string]
  readonly effect: readonly [subject: string, participle: string]
  readonly kind?: 'costs' | 'deletes'
  /** Consequence to know before the answer, besides that of `kind`. */
  readonly consequence?: string
}

/** Words of the tools that place no calls. The build leaves them out of the view of calls. */
export const changeWords: Readonly<Record<string, ToolWords>> = {
  archive_agent: {
    answers: ['Archive', 'Keep'],
    ...{ effect: ['The agent', 'archived'] },
    consequence: 'You can ask to restore it later. The platform may refuse.',
  },
  delete_phone_number: {
    ...{ answers: ['Delete', 'Keep'], effect: ['The number', 'deleted'], kind: 'deletes' },
  },
  delete_sip_trunk: {
    ...{ answers: ['Delete', 'Keep'], effect: ['The SIP trunk', 'deleted'], kind: 'deletes' },
  },
  update_subaccount: {
    answers: ['Disable', 'Keep as it is'],
    ...{ effect: ['The subaccount', 'disabled'] },
    consequence: 'Everything in it stops working until it is enabled again.',
  },
  update_agent: {
    answers: ['Save', 'Keep as it is'],
    ...{ effect: ['The agents', 'changed'] },
    consequence: 'Variables that nothing fills stay blank when an agent speaks.',
  },
}

/** Whether and how a call was answered [R]. A platform may have more values. */
export const answerStatuses = [
  'waiting',
  'human',
  'machine',
  'user_rejected',
  'user_unavailable',
  'user_busy',
  'unknown',
] as const
export type AnswerStatus = (typeof answerStatuses)[number]

export const isAnswerStatus = (status: string): status is AnswerStatus =>
  answerStatuses.some((one) => one === status)

/** Meaning of each `answer_status` [R]. */
export const answerMeanings = {
  waiting: 'not answered yet',
  human: 'answered by a person',
  machine: 'answered by a machine, such as a voicemail',
  user_rejected: 'declined',
  user_unavailable: 'nobody answered',
  user_busy: 'busy',
  unknown: 'not known whether anybody answered',
} as const satisfies Readonly<Record<AnswerStatus, string>>

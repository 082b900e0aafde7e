import { type AnswerStatus, answerStatuses } from '../contract/call.ts'

/** What the values of `answer_status` mean [R]. */
export const answerMeanings = {
  waiting: 'not answered yet',
  human: 'answered by a person',
  machine: 'answered by a machine, such as a voicemail',
  user_rejected: 'declined',
  user_unavailable: 'nobody answered',
  user_busy: 'busy',
  unknown: 'not known whether anybody answered',
} as const satisfies Readonly<Record<AnswerStatus, string>>

const isKnown = (status: string): status is AnswerStatus =>
  answerStatuses.some((one) => one === status)

/** Such as `nobody answered (user_unavailable)`; a status that is not published is shown as it is. */
export const answerInWords = (status: string): string =>
  isKnown(status) ? `${answerMeanings[status]} (${status})` : `answer ${status}`

import { answerMeanings, isAnswerStatus } from '../contract/answer-status.ts'

/** Such as `nobody answered (user_unavailable)`; a status that is not published is shown as it is. */
export const answerInWords = (status: string): string =>
  isAnswerStatus(status) ? `${answerMeanings[status]} (${status})` : `answer ${status}`

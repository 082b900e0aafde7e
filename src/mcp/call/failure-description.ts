import type { Redirected, Rejected, Unreadable } from '../../api/failure.ts'

/** What the platform answered: its own message, or what the reply was instead. */
export const replyDescription = (failure: Rejected | Unreadable): string =>
  failure.kind === 'rejected' ? rejection(failure) : unreadableReply(failure)

function rejection({ status, code, message, detail }: Rejected): string {
  const text = detail && detail !== message ? `${message} ${detail}` : message
  return `the platform refused it (HTTP ${status}, ${code}): ${text}`
}

function unreadableReply({ status, reason, detail, excerpt }: Unreadable): string {
  const isSuccess = status >= 200 && status < 300
  // Data of an unexpected shape is still data: it is shown, so that nothing is lost.
  const most = isSuccess && reason === 'unexpected_shape' ? 20_000 : 300
  const shown =
    excerpt.length > most
      ? ` It begins: ${excerpt.slice(0, most)}`
      : excerpt && ` It is: ${excerpt}`
  return `the platform answered HTTP ${status} with ${reasons[reason]}${detail ? ` (${detail})` : ''}.${shown}`
}

const reasons: Readonly<Record<Unreadable['reason'], string>> = {
  html: 'an HTML page instead of JSON, most likely from a proxy in front of it',
  empty: 'an empty reply',
  cut_off: 'a reply that was cut off',
  not_json: 'a reply that is not JSON',
  too_large: 'a reply of more than 10 MiB or of more than 300,000 values, which was not read',
  unexpected_shape: 'JSON of an undocumented shape',
}

export const redirectDescription = (failure: Redirected): string =>
  `the platform redirected (HTTP ${failure.status}) ${redirects[failure.reason](failure)}`

const redirects: Readonly<Record<Redirected['reason'], (failure: Redirected) => string>> = {
  elsewhere: ({ origin }) => `to ${origin}; the API key is not sent there`,
  not_repeatable: () => 'in a way that would send a different request',
  too_many: () => 'in a circle, or too often',
  nowhere: () => 'to no usable address',
}

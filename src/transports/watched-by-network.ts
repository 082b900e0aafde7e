import { WatchLimitError } from '../session/watched-replies.ts'

/** A stream that watches resources: whose it is, and which ones. */
export interface WatchingStream {
  readonly key: string
  readonly network: string
  readonly uris: readonly string[]
}

/**
 * Counts the resources that the streams of each client network watch. A resource that several
 * streams of one API key watch counts once, as it is read once.
 */
export class WatchedByNetwork {
  readonly #bound: number
  /** By network, the streams of each resource. */
  readonly #streams = new Map<string, Map<string, number>>()

  /** `bound`: most resources of one network; 0 means no limit. */
  constructor(bound: number) {
    this.#bound = bound
  }

  /** Counts a stream until the returned function is called. Throws WatchLimitError. */
  add({ key, network, uris }: WatchingStream): () => void {
    const counts = this.#streams.get(network) ?? new Map<string, number>()
    const resources = uris.map((uri) => `${key} ${uri}`)
    const added = resources.filter((one) => !counts.has(one)).length
    if (this.#bound > 0 && added > 0 && counts.size + added > this.#bound) {
      throw new WatchLimitError('perAddress', this.#bound)
    }
    for (const one of resources) counts.set(one, (counts.get(one) ?? 0) + 1)
    this.#streams.set(network, counts)
    return () => {
      for (const one of resources) {
        const streams = (counts.get(one) ?? 0) - 1
        if (streams > 0) counts.set(one, streams)
        else counts.delete(one)
      }
      if (counts.size === 0 && this.#streams.get(network) === counts) this.#streams.delete(network)
    }
  }
}

import type { Runtime } from '../python/runtime.ts'

/** Collects rendered text and keeps it within the budget. */
export class Output {
  private readonly runtime: Runtime
  private readonly parts: string[] = []
  private length = 0

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  write(text: string): void {
    this.length += text.length
    this.runtime.allowLength(this.length)
    if (text !== '') this.parts.push(text)
  }

  text(): string {
    return this.parts.join('')
  }
}

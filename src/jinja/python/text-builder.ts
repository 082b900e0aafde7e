import type { Runtime } from './runtime.ts'

/** Puts text together and pays for each piece before it is kept. */
export class TextBuilder {
  private readonly runtime: Runtime
  private readonly parts: string[] = []
  private length = 0

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  write(text: string): void {
    this.length += text.length
    this.runtime.payForText(text.length, this.length)
    if (text !== '') this.parts.push(text)
  }

  text(): string {
    return this.parts.join('')
  }
}

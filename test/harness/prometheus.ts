/**
 * Parses samples of the Prometheus text format (version 0.0.4), by name and labels. Throws if the
 * text is invalid: a malformed line, a repeated sample, or a metric without a preceding type.
 */
export function samplesIn(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('The last line does not end')
  const samples = new Map<string, number>()
  const typed = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line)
    if (type?.[1]) typed.add(type[1])
    if (type || /^# HELP [a-z_]+ [^\n]+$/.test(line)) continue
    const sample =
      /^(([a-z_]+)(?:\{[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\[\\"n])*")*\})?) (\S+)$/.exec(
        line,
      )
    const [, name = '', metric = '', value = ''] = sample ?? []
    const isTyped = typed.has(metric) || typed.has(metric.replace(/_(bucket|sum|count)$/, ''))
    if (!isTyped || samples.has(name) || Number.isNaN(Number(value)))
      throw new Error(`Not a sample: ${line}`)
    samples.set(name, Number(value))
  }
  return samples
}

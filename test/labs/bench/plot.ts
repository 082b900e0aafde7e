/** What one call costs as something grows. */
export interface Curve {
  readonly title: string
  /** How many there are, and the processor time of one call, µs. */
  readonly points: readonly (readonly [count: number, microseconds: number])[]
}

const size = { width: 360, height: 220, left: 48, right: 16, top: 36, bottom: 34 }

const colours = { line: '#2563eb', axis: '#8b949e', text: '#57606a' }

/** The curves side by side as one SVG: the count on a logarithmic axis, the cost on one from 0. */
export function plot(curves: readonly Curve[], caption: string): string {
  const columns = 2
  const rows = Math.ceil(curves.length / columns)
  const width = columns * size.width
  const height = rows * size.height + 24
  const most = Math.max(...curves.flatMap(({ points }) => points.map(([, cost]) => cost))) * 1.2
  const panels = curves.map((curve, index) => {
    const x = (index % columns) * size.width
    const y = Math.floor(index / columns) * size.height
    return `<g transform="translate(${x} ${y})">${panel(curve, most)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="${colours.text}">
<title>Processor time of one call as things grow</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${panels.join('\n')}
<text x="${width / 2}" y="${height - 8}" text-anchor="middle">${caption}</text>
</svg>
`
}

function panel({ title, points }: Curve, most: number): string {
  const { width, height, left, right, top, bottom } = size
  const logs = points.map(([count]) => Math.log10(count))
  const [first = 0, last = 1] = [logs[0], logs.at(-1)]
  const x = (log: number) => left + ((log - first) / (last - first)) * (width - left - right)
  const y = (cost: number) => height - bottom - (cost / most) * (height - top - bottom)
  const places = points.map(([count, cost], index) => ({
    count,
    cost,
    x: x(logs[index] ?? 0).toFixed(1),
    y: y(cost).toFixed(1),
  }))
  const base = height - bottom
  return [
    `<text x="${width / 2}" y="18" text-anchor="middle" font-weight="600">${title}</text>`,
    `<path d="M${left} ${top}V${base}H${width - right}" fill="none" stroke="${colours.axis}"/>`,
    `<text x="${left - 6}" y="${base}" text-anchor="end">0</text>`,
    `<text x="${left - 6}" y="${top + 4}" text-anchor="end">${Math.round(most)} µs</text>`,
    `<polyline points="${places.map((place) => `${place.x},${place.y}`).join(' ')}" fill="none" stroke="${colours.line}" stroke-width="2"/>`,
    ...places.flatMap((place) => [
      `<circle cx="${place.x}" cy="${place.y}" r="3" fill="${colours.line}"/>`,
      `<text x="${place.x}" y="${(Number(place.y) - 8).toFixed(1)}" text-anchor="middle">${place.cost}</text>`,
      `<text x="${place.x}" y="${base + 16}" text-anchor="middle">${place.count.toLocaleString('en')}</text>`,
    ]),
  ].join('')
}

import { crc32, deflateSync } from 'node:zlib'

/*
 * The picture of the desktop bundle: a sound wave, white on the blue of the install buttons. It is drawn
 * here, so that there is no picture in the repository whose origin nobody knows.
 */

const size = 512
const background = [0x1f, 0x5f, 0xbf] as const
/** Half the heights of the bars of the wave, in pixels. */
const bars = [50, 120, 180, 90, 145, 60] as const
const [barWidth, gap] = [36, 28]

/** A PNG file of 512 × 512 pixels, as desktop clients want it. */
export function iconPng(): Buffer {
  const rows = Array.from({ length: size }, (_, y) =>
    // Each row begins with its filter: none.
    Buffer.from([0, ...Array.from({ length: size }, (_, x) => pixel(x + 0.5, y + 0.5)).flat()]),
  )
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // 8 bits for each of red, green, blue and opacity.
  header.set([8, 6, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const data = deflateSync(Buffer.concat(rows), { level: 9 })
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

function pixel(x: number, y: number): number[] {
  const middle = size / 2
  const opacity = coverage(distance(x - middle, y - middle, middle, middle, 96))
  const left = middle - (bars.length * barWidth + (bars.length - 1) * gap) / 2
  const white = Math.max(
    ...bars.map((half, index) => {
      const center = left + index * (barWidth + gap) + barWidth / 2
      return coverage(distance(x - center, y - middle, barWidth / 2, half, barWidth / 2))
    }),
  )
  const color = background.map((part) => Math.round(part + (255 - part) * white))
  return [...color, Math.round(255 * opacity)]
}

/** How far a point is outside a rounded rectangle around the origin; negative: inside. */
function distance(x: number, y: number, halfWidth: number, halfHeight: number, radius: number) {
  const [dx, dy] = [Math.abs(x) - halfWidth + radius, Math.abs(y) - halfHeight + radius]
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius
}

/** How much of a pixel at this distance is covered, 0 to 1. */
const coverage = (outside: number) => Math.min(1, Math.max(0, 0.5 - outside))

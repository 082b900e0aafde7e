import * as z from 'zod'
import type { AddressRange } from '../transports/client-network.ts'
import { ConfigError } from './config-error.ts'
import { list, type Setting } from './setting.ts'

type Spec = Pick<Setting, 'variable' | 'help'>

/** Addresses and networks, separated by commas: `10.0.0.0/8, ::1`. */
export const addressRanges = (spec: Spec): Setting<readonly AddressRange[]> => {
  const texts = list(spec)
  return {
    ...texts,
    value: 'ADDRESSES',
    range: 'Addresses and networks such as 10.0.0.0/8, separated by commas.',
    parse: (given, label) => texts.parse(given, label).map((text) => addressRange(text, label)),
  }
}

// Not by node:net, which a start over stdio does not load.
const Ipv4Range = z.union([z.ipv4(), z.cidrv4()])
const Ipv6Range = z.union([z.ipv6(), z.cidrv6()])

function addressRange(text: string, label: string): AddressRange {
  const isIpv4 = Ipv4Range.safeParse(text).success
  if (!isIpv4 && !Ipv6Range.safeParse(text).success) {
    throw new ConfigError(
      `${label} takes addresses such as 10.0.0.5 and networks such as 10.0.0.0/8 or fd00::/8, not ${text}.`,
    )
  }
  const [address = '', prefix = isIpv4 ? 32 : 128] = text.split('/')
  return { address, family: isIpv4 ? 'ipv4' : 'ipv6', prefix: Number(prefix) }
}

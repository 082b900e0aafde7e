import type { Account } from '../../contract/account.ts'
import { quotedNameWithId } from '../../text/dialog-text.ts'

const lineOf =
  (verb: string) =>
  ({ id, name, is_active }: Account): string => {
    const state = is_active === false ? ', disabled' : is_active ? ', active' : ''
    return `${verb} subaccount ${quotedNameWithId(name, id)}${state}.`
  }

/** A subaccount that was saved, in a line: `Created subaccount "Berlin" (0b4b…), active.` */
export const createdSubaccount = lineOf('Created')
export const updatedSubaccount = lineOf('Updated')

/**
 * Where reports about letters of sites go: each letter's envelope names a sender of its own, which
 * says which letter it is and is signed, so that nobody reports about letters that he has not seen.
 */
import { createSignedAddresses } from '../../platform/signed-address.ts'

export interface ReturnPaths {
  readonly domain: string
  /** The envelope's sender for one recipient of a letter. */
  addressOf(mailId: bigint): string
  /** Which one an address is about; undefined for what is none of ours. */
  mailOf(address: string): bigint | undefined
}

/** `key`: a secret of this use alone. */
export function createReturnPaths(domain: string, key: string): ReturnPaths {
  const addresses = createSignedAddresses('returned', domain, key)
  return { domain, addressOf: addresses.addressOf, mailOf: addresses.numberOf }
}

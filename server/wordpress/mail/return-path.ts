/**
 * Addresses for reports about letters of sites. Each letter's envelope has a sender of its own,
 * which names the letter and is signed, so that only those who have seen a letter can report about
 * it.
 */
import { createSignedAddresses } from '../../platform/signed-address.ts'

export interface ReturnPaths {
  readonly domain: string
  /** The envelope's sender for one recipient of a letter. */
  addressOf(mailId: bigint): string
  /** The letter that an address is about; undefined for an address that is not ours. */
  mailOf(address: string): bigint | undefined
}

/** `key`: a secret that is used for nothing else. */
export function createReturnPaths(domain: string, key: string): ReturnPaths {
  const addresses = createSignedAddresses('returned', domain, key)
  return { domain, addressOf: addresses.addressOf, mailOf: addresses.numberOf }
}

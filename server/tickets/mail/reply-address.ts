/**
 * The addresses for letters to the support: its own address, and a signed one per ticket for
 * answers.
 */
import { createSignedAddresses } from '../../platform/signed-address.ts'

export interface ReplyAddresses {
  readonly domain: string
  /** Letters to it open a ticket. */
  readonly support: string
  /** The address for answers to a ticket. */
  addressOf(number: bigint): string
  /**
   * The number of the ticket that an address belongs to; undefined for an address that is not ours.
   */
  ticketOf(address: string): bigint | undefined
}

/** `support`: an e-mail address in small letters; `key`: a secret of this use alone. */
export function createReplyAddresses(support: string, key: string): ReplyAddresses {
  const domain = support.slice(support.lastIndexOf('@') + 1)
  const { addressOf, numberOf } = createSignedAddresses('ticket', domain, key)
  return { domain, support, addressOf, ticketOf: numberOf }
}

/**
 * The interface between the messages module and what carries SMS and mail. Failures are
 * DriverFailure.
 */
export interface SmsDriver {
  readonly name: string
  /** `to` in E.164. The same idempotencyKey is not sent twice by a gateway that can tell. */
  send(message: {
    readonly to: string
    readonly text: string
    readonly idempotencyKey: string
  }): Promise<void>
}

/** The key that signs letters (DKIM, RFC 6376). */
export interface SignKey {
  readonly domain: string
  readonly selector: string
  /** PEM. */
  readonly privateKey: string
}
/** A complete letter from another sender, with its header, for one recipient. */
export interface RelayedLetter {
  /** Sender and recipient of the envelope. */
  readonly from: string
  readonly to: string
  /** RFC 5322, lines that end with CRLF. */
  readonly raw: Buffer
  readonly signKey: SignKey | undefined
}
/**
 * `refused`: the recipient or the letter, permanently. `later`: anything else; a retry is possible.
 * `why` is the mail server's text or our own; printable, but untrusted.
 */
export type RelayOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused' | 'later'; readonly why: string }

export interface MailDriver {
  readonly name: string
  /** Passes a letter on unchanged, signed. Never throws for a response of the mail server. */
  relay(letter: RelayedLetter): Promise<RelayOutcome>
  send(message: {
    readonly to: string
    readonly subject: string
    readonly text: string
    readonly idempotencyKey: string
    /** The address for answers, if not the sender. */
    readonly replyTo?: string | undefined
    /** Letters with the same address for answers are shown as one conversation. */
    readonly isOfConversation?: boolean
  }): Promise<void>
}

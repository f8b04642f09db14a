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

/** What a letter is signed with (DKIM, RFC 6376). */
export interface SignKey {
  readonly domain: string
  readonly selector: string
  /** PEM. */
  readonly privateKey: string
}
/** A letter that somebody else wrote, with its header, for one recipient. */
export interface RelayedLetter {
  /** Sender and recipient of the envelope. */
  readonly from: string
  readonly to: string
  /** RFC 5322, lines that end with CRLF. */
  readonly raw: Buffer
  readonly signKey: SignKey | undefined
}
/**
 * `refused`: the recipient or the letter, for good. `later`: everything else; it may be tried
 * again. `why` is what the mail server said, or a word of ours; printable, and hostile.
 */
export type RelayOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused' | 'later'; readonly why: string }

export interface MailDriver {
  readonly name: string
  /** Passes a letter on as it is, signed. Never throws for what the mail server said. */
  relay(letter: RelayedLetter): Promise<RelayOutcome>
  send(message: {
    readonly to: string
    readonly subject: string
    readonly text: string
    readonly idempotencyKey: string
    /** Where answers go, if not to the sender; letters of one matter have it in common. */
    readonly replyTo?: string | undefined
  }): Promise<void>
}

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
export interface MailDriver {
  readonly name: string
  send(message: {
    readonly to: string
    readonly subject: string
    readonly text: string
    readonly idempotencyKey: string
  }): Promise<void>
}

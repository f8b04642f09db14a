/**
 * The three kinds of failure: a refusal that the customer reads, a driver's failure, and (anything
 * else) a bug.
 */
import type { ErrorCode, Language } from '../../contract/index.ts'

/** A sentence in each language of the API. */
export type Sentence = Readonly<Record<Language, string>>

/**
 * A refusal that the customer reads. The text comes from `contract/errors.ts`; `fields` names the
 * faulty fields and says what is wrong with each.
 */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly fields: Readonly<Record<string, string | Sentence>> | undefined
  /** For `rate_limited`: seconds after which another try makes sense. */
  readonly retryAfterSeconds: number | undefined
  /**
   * True when the writes before the refusal must be committed, such as the count of wrong codes.
   * Otherwise the transaction is rolled back.
   */
  readonly keepsWrites: boolean
  /** For `second_factor_required`: the challenge that the next call must name. */
  readonly challenge: string | undefined
  /** Replaces the code's text where the refusal is not about a field. */
  readonly said: Sentence | undefined
  /** Sentences of fields that say little without the field's name: the code's text stands above. */
  readonly isGeneral: boolean
  constructor(
    code: ErrorCode,
    detail: {
      fields?: Record<string, string | Sentence>
      retryAfterSeconds?: number
      keepsWrites?: boolean
      challenge?: string
      said?: Sentence
      isGeneral?: boolean
    } = {},
  ) {
    super(code)
    this.name = 'Refusal'
    this.code = code
    this.fields = detail.fields
    this.retryAfterSeconds = detail.retryAfterSeconds
    this.keepsWrites = detail.keepsWrites ?? false
    this.challenge = detail.challenge
    this.said = detail.said
    this.isGeneral = detail.isGeneral ?? false
  }

  /** The faults by field, in the caller's language. */
  fieldsIn(language: Language): Record<string, string> | undefined {
    return (
      this.fields &&
      Object.fromEntries(
        Object.entries(this.fields).map(([name, text]) => [
          name,
          typeof text === 'string' ? text : text[language],
        ]),
      )
    )
  }
}

/**
 * `rejected`: the third party refused; a retry is useless. `full`: there is no capacity until
 * somebody adds some. `unavailable`: retry later. `unclear`: the call may have succeeded; query
 * before a retry (a payment is never retried blindly).
 */
export type DriverFailureKind = 'rejected' | 'full' | 'unavailable' | 'unclear'

export class DriverFailure extends Error {
  readonly kind: DriverFailureKind
  constructor(kind: DriverFailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DriverFailure'
    this.kind = kind
  }
}

/**
 * The three kinds of failure: a refusal that the customer reads, a driver's failure, and (anything
 * else) a bug.
 */
import type { ErrorCode, Language } from '../../contract/index.ts'

/** In each language that a caller may ask for. */
export type Sentence = Readonly<Record<Language, string>>

/**
 * A refusal that the customer reads. The text comes from `contract/errors.ts`; `fields` says what
 * is wrong in which field.
 */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly fields: Readonly<Record<string, string | Sentence>> | undefined
  /** For `rate_limited`: seconds until another try makes sense. */
  readonly retryAfterSeconds: number | undefined
  /**
   * True when what was written before the refusal must stay, such as the count of wrong codes.
   * Otherwise all is rolled back.
   */
  readonly keepsWrites: boolean
  /** For `second_factor_required`: what the call that brings the factor names. */
  readonly challenge: string | undefined
  /** In place of the code's text, where it is about no field. */
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

  /** What is wrong, by field, as the caller reads it. */
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

/** Ours to eSMS's: numbers, texts, request ids. */
import { createHash } from 'node:crypto'
import { plainText } from '../../../../contract/fold.ts'

/**
 * E.164 to what eSMS takes: 0912… in Vietnam, the country's code without '+' elsewhere. Undefined
 * for what is no number.
 */
export function esmsPhone(e164: string): string | undefined {
  const digits = /^\+([1-9]\d{6,14})$/.exec(e164)?.[1]
  return digits?.startsWith('84') === true ? `0${digits.slice(2)}` : digits
}

/**
 * Text of the GSM alphabet without diacritics, so that the carriers count it as one message:
 * Vietnamese letters are folded, typographic signs become plain ones, what remains strange becomes
 * '?'. Carriers drop ^{}[]~\|` in brand messages, so they go too.
 */
export const gsmText = (text: string): string =>
  plainText(text)
    .replace(/\r\n?/g, '\n')
    .replace(/[^\n\x20-\x7e]|[\^{}[\]~\\|]/gu, '?')

/** eSMS's RequestId: the same idempotency key always gives the same. */
export const requestId = (key: string): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 32)

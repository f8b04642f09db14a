/** Ours to Alepay's and back: amounts, telephone numbers, the time a payment stays open. */

/**
 * An amount in đồng, that Alepay writes as 162000, "162000", 162000.0 or 1.62E5; undefined when it
 * is no whole number above or equal to zero.
 */
export function fromAlepayAmount(value: unknown): bigint | undefined {
  if (
    typeof value !== 'number' &&
    !(typeof value === 'string' && /^\d{1,15}(?:\.\d{1,15})?(?:E\d{1,2})?$/i.test(value))
  )
    return undefined
  const amount = Number(value)
  return Number.isSafeInteger(amount) && amount >= 0 ? BigInt(amount) : undefined
}

/**
 * A Vietnamese number with its leading zero, as Alepay wants it; undefined for any other country's.
 */
export function vietnamesePhone(phone: string): string | undefined {
  const digits = phone.replace(/\D/g, '')
  const national = /^(?:\+|00)?84/.test(phone.trim())
    ? digits.replace(/^(?:00)?84/, '0').replace(/^00/, '0')
    : digits
  return /^0(?:[35789]\d{8}|2\d{9})$/.test(national) ? national : undefined
}

/**
 * The time from one moment to another as Alepay takes it: hours in text, in halves as its guide
 * shows them, rounded up.
 */
export const paymentHours = (from: Date, to: Date): string =>
  (Math.ceil((to.getTime() - from.getTime()) / 1_800_000) / 2).toString()

/** A moment in milliseconds since 1970, as number or text; null when there is none. */
export function fromAlepayTime(value: unknown): Date | null {
  const ms = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof ms === 'number' && Number.isSafeInteger(ms) && ms > 0 && ms < 8.64e15
    ? new Date(ms)
    : null
}

/** Stripe's test cards. Source: https://docs.stripe.com/testing */

/** `setup` and `pay`: the results of linking the card and of paying with it. */
export type CardOutcome = 'ok' | 'challenge' | Decline
export interface Decline {
  readonly code: string
  readonly decline_code?: string
  readonly message: string
}
interface TestCard {
  readonly brand: string
  readonly setup: CardOutcome
  readonly pay: CardOutcome
}

const declined: Decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
}
const insufficient: Decline = {
  code: 'card_declined',
  decline_code: 'insufficient_funds',
  message: 'Your card has insufficient funds. Try a different card.',
}
const expired: Decline = {
  code: 'expired_card',
  message: 'Your card has expired. Try a different card.',
}
const always = (turn: CardOutcome, brand = 'visa'): TestCard => ({ brand, setup: turn, pay: turn })

const cards: Readonly<Record<string, TestCard>> = {
  '4242424242424242': always('ok'),
  '5555555555554444': always('ok', 'mastercard'),
  '378282246310005': always('ok', 'amex'),
  '3566002020360505': always('ok', 'jcb'),
  '6011111111111117': always('ok', 'discover'),
  '4000000000000002': always(declined),
  '4000000000009995': always(insufficient),
  '4000000000000069': always(expired),
  // Can be linked, but is refused when charged.
  '4000000000000341': { brand: 'visa', setup: 'ok', pay: declined },
  // Needs authentication once, when it is linked.
  '4000002500003155': { brand: 'visa', setup: 'challenge', pay: 'ok' },
  // Needs authentication every time.
  '4000002760003184': always('challenge'),
}

export const testCard = (number: string): TestCard | undefined =>
  Object.hasOwn(cards, number) ? cards[number] : undefined

/** Checks a card number's check digit (Luhn). */
export function passesLuhn(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false
  const sum = [...number].toReversed().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

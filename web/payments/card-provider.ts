/**
 * The card provider's script in the browser (Stripe.js), loaded when a screen needs it. The card's
 * number is typed into the provider's own frame; this page never sees it. `scriptUrl` is the
 * provider or its sandbox stand-in: the code is the same.
 */
import type { Config } from '../../contract/system.ts'

export interface CardError {
  type: string
  code?: string
  message?: string
}
export interface CardIntent {
  status: string
  payment_method: string | { id: string } | null
}
interface CardForm {
  mount(place: HTMLElement): void
  destroy(): void
  on(event: 'ready' | 'loaderror', listener: () => void): unknown
}
/** The look of the form: Stripe's Appearance API. */
export interface Appearance {
  theme: 'stripe' | 'night'
  variables: Record<string, string>
}
export interface CardFields {
  create(type: 'payment', options?: object): CardForm
  update(changes: { appearance: Appearance }): void
  submit(): Promise<{ error?: CardError }>
}
/** The part of Stripe.js that the screens use. */
export interface CardProvider {
  elements(options: { clientSecret: string; locale: string; appearance: Appearance }): CardFields
  confirmSetup(options: {
    elements: CardFields
    confirmParams: { return_url: string }
    redirect: 'if_required'
  }): Promise<{ error?: CardError; setupIntent?: CardIntent }>
  retrieveSetupIntent(
    clientSecret: string,
  ): Promise<{ error?: CardError; setupIntent?: CardIntent }>
  confirmCardPayment(
    clientSecret: string,
  ): Promise<{ error?: CardError; paymentIntent?: CardIntent }>
}

declare global {
  interface Window {
    Stripe?: (publishableKey: string) => CardProvider
  }
}

let loading: Promise<CardProvider> | undefined

async function load({ publishableKey, scriptUrl }: Config['cards']): Promise<CardProvider> {
  if (!window.Stripe) {
    const script = document.createElement('script')
    script.src = scriptUrl
    document.head.append(script)
    try {
      await new Promise((resolve, reject) => {
        script.addEventListener('load', resolve)
        script.addEventListener('error', () =>
          reject(new Error('the card provider’s script did not load')),
        )
      })
    } catch (error) {
      script.remove()
      throw error
    }
  }
  if (!window.Stripe) throw new Error('the card provider’s script says nothing')
  return window.Stripe(publishableKey)
}

/** Loads the script once per page; after a failure it is tried again. */
export function cardProvider(cards: Config['cards']): Promise<CardProvider> {
  loading ??= load(cards).catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

export const methodIdOf = (intent: CardIntent): string | null =>
  typeof intent.payment_method === 'string'
    ? intent.payment_method
    : (intent.payment_method?.id ?? null)

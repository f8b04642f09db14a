/**
 * A page that is there asks again behind its form. A server that is too busy to answer such a read
 * takes nobody away from what they type; what they press, the load of a page, and maintenance,
 * which takes no form either, do.
 */
import { onOutage } from './api.ts'

/** `isLoading`: whether a page is being opened. */
export function stayTyping(isLoading: () => boolean): void {
  let typedIn: EventTarget | null = null
  addEventListener('input', ({ target }) => (typedIn = target), { capture: true, passive: true })
  const { unavailable } = onOutage
  onOutage.unavailable = (failure, endpoint) => {
    const isBehind = endpoint.method === 'GET' && failure.code !== 'maintenance' && !isLoading()
    // With its form, dialog or page the field is gone.
    if (isBehind && typedIn instanceof Node && typedIn.isConnected) return
    unavailable(failure, endpoint)
  }
}

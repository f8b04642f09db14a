/** Refuses calls while the portal is closed for maintenance. */
import type { Endpoint } from '../../contract/index.ts'
import { Refusal } from './errors.ts'

const [soonestSeconds, unknownSeconds, latestSeconds] = [10, 60, 3600]

/**
 * Refuses with maintenance, and says when to come again. The staff works on, and so does what is no
 * call of the API: webhooks of gateways, sites, the name server.
 */
export function refuseWhileClosed(
  endpoint: Pick<Endpoint, 'access' | 'whileClosed'>,
  closure: { readonly leftSeconds: number | null } | undefined,
): void {
  if (!closure || endpoint.access === 'staff' || endpoint.whileClosed === true) return
  const left = closure.leftSeconds ?? unknownSeconds
  const retryAfterSeconds = Math.ceil(Math.min(latestSeconds, Math.max(soonestSeconds, left)))
  throw new Refusal('maintenance', { retryAfterSeconds })
}

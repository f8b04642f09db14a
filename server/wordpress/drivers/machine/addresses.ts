/** Makes a container replace stored addresses (replace-address.php of the runtime). */
import * as z from 'zod'
import { DriverFailure } from '../../../platform/errors.ts'
import type { AddressStep, SiteAddress } from '../../driver.ts'
import { answerOfAct } from './acts.ts'

const name = z.string().max(300)
const count = z.int().nonnegative()
const answerShape = z.union([
  z.object({ error: z.string().max(2_000) }),
  z.object({
    after: z.object({ table: name, key: count.nullable() }).nullable(),
    tables: z.record(name, count),
    samples: z.array(name).max(100),
    skipped: z.array(name).max(1_000),
  }),
])

/**
 * Rejects with DriverFailure: unavailable where the container gives no valid answer, rejected where
 * the database refuses.
 */
export async function replaceAddressesAt(
  at: SiteAddress,
  ticket: string,
  host: string,
): Promise<AddressStep> {
  const step = await answerOfAct(at, ticket, host, answerShape)
  if ('error' in step) throw new DriverFailure('rejected', step.error)
  return step
}

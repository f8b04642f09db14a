// What the tool in the container has counted. The database is the customer's: it is validated.
import * as z from 'zod'
import { DriverFailure } from '../../../platform/errors.ts'
import type { CopyFigures } from '../../driver.ts'

const shape = z.union([
  z.object({ fault: z.string().max(4_000) }),
  z.object({
    tables: z
      .array(
        z.object({
          name: z.string().max(300),
          rows: z.int().nonnegative(),
          sha256: z.string().regex(/^[0-9a-f]{64}$/),
        }),
      )
      .max(20_000),
  }),
])

/** Throws DriverFailure rejected for what is none. */
export function figuresIn(said: string): CopyFigures['tables'] {
  let value: unknown
  try {
    value = JSON.parse(said)
  } catch {
    // The schema says no.
  }
  const { data } = shape.safeParse(value)
  if (data === undefined) throw new DriverFailure('unavailable', 'the copy gave no figures')
  if ('fault' in data) throw new DriverFailure('rejected', `the database: ${data.fault}`)
  return data.tables
}

// Validates the figures that the tool in the container has counted: the database is the customer's.
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

/**
 * Throws DriverFailure unavailable where there are no figures, rejected where the tool reports a
 * fault of the database.
 */
export function figuresIn(said: string): CopyFigures['tables'] {
  let value: unknown
  try {
    value = JSON.parse(said)
  } catch {
    // The schema rejects it below.
  }
  const { data } = shape.safeParse(value)
  if (data === undefined) throw new DriverFailure('unavailable', 'the copy gave no figures')
  if ('fault' in data) throw new DriverFailure('rejected', `the database: ${data.fault}`)
  return data.tables
}

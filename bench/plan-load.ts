/** What a plan's processors achieve with more visitors than processors. */
import os from 'node:os'

export const loadMs = 20_000
const visitors = 16

/** Pages per second; `visit` returns whether a page arrived. */
export async function pagesASecond(visit: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  let done = 0
  const visitor = async (): Promise<void> => {
    while (performance.now() - began < loadMs) if (await visit()) done++
  }
  await Promise.all(Array.from({ length: visitors }, visitor))
  return done / ((performance.now() - began) / 1_000)
}

export interface PlanRates {
  readonly alone: number
  readonly both: number
}

/** The smallest and the largest plan, each alone and both together. */
export async function ratesOf(
  visits: readonly [() => Promise<boolean>, () => Promise<boolean>],
): Promise<readonly [PlanRates, PlanRates]> {
  const [one, other] = visits
  // Warms up, so that all processes have started.
  for (const visit of visits) await pagesASecond(visit)
  const alone = [await pagesASecond(one), await pagesASecond(other)] as const
  const both = await Promise.all([pagesASecond(one), pagesASecond(other)])
  const rates = [
    { alone: alone[0], both: both[0] },
    { alone: alone[1], both: both[1] },
  ] as const
  console.log(
    `      pages a second on ${os.availableParallelism()} cores: 1 processor ` +
      `${alone[0].toFixed(2)}, 16 ${alone[1].toFixed(2)}; ` +
      `both at once ${both[0].toFixed(2)} and ${both[1].toFixed(2)}`,
  )
  return rates
}

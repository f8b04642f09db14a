/**
 * The order of test files: those that take longest begin first, so that at the end no worker waits
 * for one of them alone. The list is of the twenty slowest that a run prints (slowest.ts); whoever
 * is not in it follows, large files first.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longest = [
  'server/wordpress/drivers/embedded/embedded.test.ts',
  'test/e2e/screens.test.ts',
  'test/restart.test.ts',
  'server/wordpress/drivers/embedded/hostile-database.test.ts',
  'test/content-survives.test.ts',
  'server/commands/commands.test.ts',
  'test/e2e/sentences.test.ts',
  'server/payments/hosted.test.ts',
  'server/wordpress/drivers/embedded/confinement.test.ts',
  'test/kill.test.ts',
  'test/e2e/cards.test.ts',
  'server/payments/refunds.test.ts',
  'server/wordpress/provision.test.ts',
  'test/e2e/dns.test.ts',
  'test/schedules.test.ts',
  'server/billing/simulation.test.ts',
  'test/e2e/server.test.ts',
  'test/e2e/shell.test.ts',
  'server/wordpress/drivers/embedded/as-elsewhere.test.ts',
  'server/wordpress/wordpress.test.ts',
  'server/platform/jobs.test.ts',
]

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files)
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((file) => moduleId.endsWith(file))
      return at === -1 ? longest.length : at
    }
    return others.toSorted((a, b) => place(a) - place(b))
  }
}

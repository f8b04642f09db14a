/**
 * The order of test files: the longest begin first, so that at the end no worker waits for a single
 * one. The list has the slowest files that a run prints (slowest.ts), beginning with those that
 * start many processes. Other files follow, large ones first.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longest = [
  'server/wordpress/drivers/docker/docker.test.ts',
  'server/wordpress/drivers/embedded/embedded.test.ts',
  'server/wordpress/updates-real.test.ts',
  'server/wordpress/move-kills.test.ts',
  'test/e2e/screens.test.ts',
  'server/wordpress/drivers/embedded/hostile-database.test.ts',
  'server/wordpress/update-kills.test.ts',
  'server/wordpress/drain.test.ts',
  'server/portal-backup/portal-backup.test.ts',
  'server/portal-backup/nightly.test.ts',
  'server/wordpress/drivers/embedded/as-elsewhere.test.ts',
  'test/e2e/move-out-and-in.test.ts',
  'test/content-survives.test.ts',
  'server/wordpress/console-real.test.ts',
  'server/realtime/delivery.test.ts',
  'server/wordpress/mail/refusals.test.ts',
  'server/wordpress/drivers/embedded/simulated.test.ts',
  'test/database-away.test.ts',
  'server/wordpress/moves.test.ts',
  'test/kill.test.ts',
  'server/wordpress/drivers/embedded/move-in.test.ts',
  'test/restart.test.ts',
  'test/machine-gone.test.ts',
  'test/e2e/sentences.test.ts',
  'test/e2e/cards.test.ts',
  'server/payments/refunds.test.ts',
  'server/wordpress/provision.test.ts',
  'server/billing/simulation.test.ts',
  'server/messages/messages.test.ts',
  'server/commands/commands.test.ts',
  'server/payments/hosted.test.ts',
  'test/e2e/dns.test.ts',
  'test/e2e/server.test.ts',
  'test/e2e/shell.test.ts',
  'test/schedules.test.ts',
  'test/e2e/journey.test.ts',
  'test/e2e/faults.test.ts',
  'server/wordpress/drivers/embedded/confinement.test.ts',
  'server/wordpress/drivers/embedded/first-containers.test.ts',
  'server/wordpress/wordpress.test.ts',
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

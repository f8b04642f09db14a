/**
 * Supervises the embedded PostgreSQL: restarts it when its postmaster dies. Connections fail for
 * the seconds that the recovery takes, and customers' sites go on. The address stays the same, so
 * pools reconnect.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { seconds } from '../clock.ts'
import type { Log } from '../log.ts'
import { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedPostgres } from './index.ts'

export interface SupervisedPostgres {
  readonly url: string
  stop(): Promise<void>
}

const shortestPauseMs = 200
const longestPauseMs = seconds(10)
/** A server that lived this long is started again without a pause. */
const steadyMs = seconds(60)

/**
 * Boots PostgreSQL, and restarts it whenever it exits unasked. Throws a sentence for the operator
 * when the first boot fails.
 */
export async function supervisePostgres(
  options: EmbeddedOptions,
  log: Pick<Log, 'error' | 'info'>,
): Promise<SupervisedPostgres> {
  let current: EmbeddedPostgres = await startEmbeddedPostgres(options)
  const { url } = current
  let stopping = false
  let starting: Promise<void> = Promise.resolve()
  let bootedAt = performance.now()
  let pauseMs = shortestPauseMs

  const watch = (server: EmbeddedPostgres): void =>
    void server.died.then((why) => {
      if (stopping) return
      log.error({ why }, 'the database ended and is started again')
      starting = startAgain()
    })
  async function startAgain(): Promise<void> {
    if (performance.now() - bootedAt > steadyMs) pauseMs = shortestPauseMs
    while (!stopping) {
      await pause(pauseMs)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      try {
        const server = await startEmbeddedPostgres(options)
        if (server.url !== url) {
          // Nothing would find it at another address: exit, so that the supervisor restarts
          // everything.
          log.error({ err: new Error('another address') }, 'the database came back elsewhere')
          process.exit(1)
        }
        current = server
        bootedAt = performance.now()
        log.info('the database is back')
        watch(server)
        return
      } catch (error) {
        log.error({ err: error }, 'the database does not start')
      }
    }
  }
  watch(current)
  return {
    url,
    async stop() {
      stopping = true
      await starting
      await current.stop()
    },
  }
}

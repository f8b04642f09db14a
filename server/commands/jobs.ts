import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import { givenUpJobs, queueStates, startAgain, type JobChoice } from '../platform/job-inspection.ts'
import type { Output } from './output.ts'

const usage = `npm run portal -- jobs [--queue <name>] [--json]
npm run portal -- jobs retry <id> … | --queue <name> | --all [--json]`
const shownAtOnce = 200

/**
 * `jobs`: every queue with what waits, runs and gave up, and the jobs that gave up with why;
 * `jobs retry`: starts those again that are named. Answers 1 where something gave up, and where
 * nothing was found to start again.
 */
export async function jobsCommand(
  _config: Config,
  databaseUrl: string,
  args: readonly string[],
  out: Output,
): Promise<number> {
  let given
  try {
    given = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        queue: { type: 'string' },
        all: { type: 'boolean' },
      },
    })
  } catch {
    out.refuse(usage)
    return 64
  }
  const { values, positionals } = given
  const [verb, ...ids] = positionals
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    if (verb === undefined && values.all === undefined) return await show(db, values.queue, out)
    const choices: JobChoice[] = [
      ...(ids.length > 0 ? [{ ids }] : []),
      ...(values.queue === undefined ? [] : [{ queue: values.queue }]),
      ...(values.all === true ? [{ all: true } as const] : []),
    ]
    const [choice, ...more] = choices
    if (verb !== 'retry' || !choice || more.length > 0) {
      out.refuse(usage)
      return 64
    }
    const started = await startAgain(db, choice)
    out.line(started === 0 ? 'No such job gave up.' : `${started} started again.`)
    out.fields({ started })
    return started === 0 ? 1 : 0
  } finally {
    await close()
  }
}

async function show(
  db: Parameters<typeof queueStates>[0],
  queue: string | undefined,
  out: Output,
): Promise<number> {
  const queues = (await queueStates(db)).filter((each) => (queue ?? each.queue) === each.queue)
  const givenUp = await givenUpJobs(db, { queue, limit: shownAtOnce })
  for (const each of queues)
    out.line(
      `${each.queue.padEnd(26)} ${each.waiting} waiting  ${each.retrying} retrying  ` +
        `${each.running} running  ${each.givenUp} given up` +
        `${each.oldestDueAt ? `  oldest due since ${each.oldestDueAt.toISOString()}` : ''}`,
    )
  for (const job of givenUp)
    out.line(
      `${job.id}  ${job.queue}  ${job.givenUpAt.toISOString()}  after ${job.attempts} attempts  ` +
        `${JSON.stringify(job.payload)}  ${job.reason}`,
    )
  out.fields({ queues, givenUp })
  return givenUp.length > 0 ? 1 : 0
}

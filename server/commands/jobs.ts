import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { wantedOf } from '../operator/index.ts'
import { connect } from '../platform/db.ts'
import { givenUpJobs, queueStates } from '../platform/job-inspection.ts'
import { performAsCommand, reasonOf } from './act.ts'
import { openDeskTools } from './desk-tools.ts'
import type { Output } from './output.ts'

const usage = `npm run portal -- jobs [--queue <name>] [--json]
npm run portal -- jobs retry <id> … | --queue <name> | --all [--reason <text>] [--json]`
const shownAtOnce = 200

/**
 * `jobs`: every queue with its waiting, running and given-up jobs, and the given-up jobs with
 * reasons. `jobs retry`: restarts the named ones by the acts `work.retry_job` (one per id) and
 * `work.retry_jobs`. Answers 1 if a job gave up, or none was found to restart.
 */
export async function jobsCommand(
  config: Config,
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
        reason: { type: 'string' },
      },
    })
  } catch {
    out.refuse(usage)
    return 64
  }
  const { values, positionals } = given
  const [verb, ...ids] = positionals
  if (verb === undefined && values.all === undefined && values.reason === undefined) {
    const { db, close } = connect(databaseUrl, 1, () => undefined)
    try {
      return await show(db, values.queue, out)
    } finally {
      await close()
    }
  }
  const reason = reasonOf(values.reason, 'started again by command')
  const choices = [
    ...(ids.length > 0 ? [ids.map((job) => ({ act: 'work.retry_job' as const, job }))] : []),
    ...(values.queue === undefined
      ? []
      : [[{ act: 'work.retry_jobs' as const, queue: values.queue }]]),
    ...(values.all === true ? [[{ act: 'work.retry_jobs' as const }]] : []),
  ]
  const [choice, ...more] = choices
  if (verb !== 'retry' || !choice || more.length > 0 || reason === undefined) {
    out.refuse(usage)
    return 64
  }
  const tools = await openDeskTools(config, databaseUrl)
  try {
    let [started, acts] = [0, [] as (number | null)[]]
    for (const { act, ...input } of choice) {
      const wanted = wantedOf(act, { ...input, reason })
      await performAsCommand(tools, wanted, false, out, {
        done({ act: number, after }) {
          started += Number(after?.['jobs'] ?? 1)
          acts = [...acts, number]
        },
        // With several ids, jobs that did not give up are skipped.
        refused: ({ code }) => (code === 'not_found' ? 0 : undefined),
      })
    }
    out.line(started === 0 ? 'No such job gave up.' : `${started} started again.`)
    out.fields({ started, acts })
    return started === 0 ? 1 : 0
  } finally {
    await tools.close()
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

import { parseArgs } from 'node:util'
import { loadCatalog } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { createOutbox } from '../messages/index.ts'
import { days, later, readOffset, systemClock, type Clock } from '../platform/clock.ts'
import { connect, type Database } from '../platform/db.ts'
import { createJobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { loadRootSecret, openSecrets } from '../platform/secrets.ts'
import { createEventOutbox } from '../realtime/index.ts'
import {
  addressingOf,
  mailOfSites,
  mechanismFor,
  openMailOperator,
  suspensionCauses,
  type MailOperator,
} from '../wordpress/index.ts'
import type { Output } from './output.ts'

const usage = `npm run portal -- mail [list]
npm run portal -- mail suspend <server> [--for complaint | operator] [--note <text>]
npm run portal -- mail resume <server>
npm run portal -- mail records
A server by its name or its id. Each with --json.`
const shownAtOnce = 100
const longestNote = 300

async function openOperator(config: Config, databaseUrl: string, db: Database) {
  const log = createLog(config.LOG_LEVEL)
  const secrets = await openSecrets(
    db,
    loadRootSecret(config.DATA_DIR, config.PORTAL_SECRET),
    config.PORTAL_SECRET_PREVIOUS,
  )
  const jobs = createJobs(databaseUrl, log, 'send')
  await jobs.start()
  const offsetMs = config.sandbox ? await readOffset(db) : 0
  const clock: Clock = { now: () => new Date(systemClock.now().getTime() + offsetMs) }
  const operator = openMailOperator({
    db,
    clock,
    log,
    jobs,
    secrets,
    catalog: loadCatalog(config.CATALOG),
    // Written here, and sent by the portal that runs.
    outbox: createEventOutbox(clock, () => undefined),
    mail: createOutbox({ jobs, clock, secrets }).mail,
    addressing: addressingOf(config),
    portalUrl: config.portalUrl,
  })
  return { operator, close: () => jobs.stop() }
}

async function list(db: Database, out: Output): Promise<number> {
  const sites = await mailOfSites(db, {
    since: later(systemClock.now(), -days(1)),
    limit: shownAtOnce,
  })
  for (const site of sites)
    out.line(
      `${site.siteId}  ${site.name}  ${site.customerEmail}  ` +
        `${site.waiting} waiting  ${site.sent} sent and ${site.bounced} refused in a day` +
        (site.suspendedAt === null
          ? ''
          : `  suspended since ${site.suspendedAt.toISOString()} for ${site.cause}` +
            (site.note === null ? '' : `: ${site.note}`)),
    )
  const suspended = sites.filter(({ suspendedAt }) => suspendedAt !== null).length
  out.line(`E-mail of ${suspended} sites is suspended.`)
  out.fields({ sites, suspended })
  return suspended === 0 ? 0 : 1
}

async function records(operator: MailOperator, config: Config, out: Output): Promise<number> {
  const key = await operator.ownKey()
  if (!key) {
    out.refuse('Without SITES_DOMAIN the sites have no domain that records could be written for.')
    return 1
  }
  const spf = `v=spf1 ${mechanismFor(config.SITE_MAIL_SPF, config.SMTP_URL)} ~all`
  out.line(
    'Letters of sites without a domain of their own come from names below the sites’ domain.',
  )
  out.line('Add to its zone, the first for signatures, the second for each name (RFC 6376, 7208):')
  out.line('')
  out.line(`  ${key.name} TXT ${key.value}`)
  out.line(`  *.${config.SITES_DOMAIN} TXT ${spf}`)
  const { SITE_MAIL_REPORTS: reports } = config
  const mx = `10 ${new URL(config.portalUrl).hostname}`
  if (reports !== undefined) {
    out.line('')
    out.line('The domain that reports about letters go to is the sender on their envelopes:')
    out.line('')
    out.line(`  ${reports} MX ${mx}`)
    out.line(`  ${reports} TXT ${spf}`)
  }
  out.fields({
    dkim: key,
    spf: { name: `*.${config.SITES_DOMAIN}`, value: spf },
    reports: reports === undefined ? null : { name: reports, mx, spf },
  })
  return 0
}

/**
 * `mail`: what sites send; suspends the mail of one, resumes it, and says which records the sites'
 * own domain needs. `list` answers 1 while mail of any is suspended.
 */
export async function mailCommand(
  config: Config,
  databaseUrl: string,
  args: readonly string[],
  out: Output,
): Promise<number> {
  const refuse = (text: string, code = 64): number => {
    out.refuse(text)
    return code
  }
  let given
  try {
    given = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { for: { type: 'string' }, note: { type: 'string' } },
    })
  } catch {
    return refuse(usage)
  }
  const { values, positionals } = given
  const [act = 'list', server, ...more] = positionals
  const cause = suspensionCauses.find((one) => one === (values.for ?? 'operator'))
  const isWhole = ['list', 'records'].includes(act) && server === undefined
  const isOfOne = ['suspend', 'resume'].includes(act) && server !== undefined
  const note = values.note?.trim().slice(0, longestNote)
  if ((!isWhole && !isOfOne) || more.length > 0 || cause === undefined) return refuse(usage)
  if (act !== 'suspend' && (values.for ?? values.note) !== undefined) return refuse(usage)

  const { db, close } = connect(databaseUrl, 2, () => undefined)
  try {
    if (act === 'list') return await list(db, out)
    const opened = await openOperator(config, databaseUrl, db)
    try {
      if (act === 'records') return await records(opened.operator, config, out)
      const name = server ?? ''
      const done =
        act === 'suspend'
          ? await opened.operator.suspend(name, { cause, note: note || null })
          : await opened.operator.resume(name)
      if (done === undefined) return refuse(`There is no server ${name}.`, 1)
      const state = act === 'suspend' ? 'suspended' : 'resumed'
      out.line(
        done
          ? `E-mail of ${name} is ${state}, and its owner is told.`
          : `E-mail of ${name} ${act === 'suspend' ? 'was' : 'was not'} suspended already.`,
      )
      out.fields({ server: name, state, changed: done })
      return 0
    } finally {
      await opened.close()
    }
  } finally {
    await close()
  }
}

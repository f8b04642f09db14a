import { parseArgs } from 'node:util'
import { suspensionCauses } from '../../contract/wordpress-mail.ts'
import type { Config } from '../config.ts'
import { days, later, readOffset, systemClock, type Clock } from '../platform/clock.ts'
import { connect, type Database } from '../platform/db.ts'
import { loadRootSecret, openSecrets } from '../platform/secrets.ts'
import { addressingOf, mailOfSites, mechanismFor, ownMailKey } from '../wordpress/index.ts'
import { actFor, reasonOf } from './act.ts'
import type { Output } from './output.ts'

const usage = `npm run portal -- mail [list]
npm run portal -- mail suspend <server> [--for complaint | operator] [--note <text>]
npm run portal -- mail resume <server>
npm run portal -- mail records
A server by its name or its id. --reason <text> is for the trail; without it the note is.
Each with --json.`
const shownAtOnce = 100
const longestNote = 300

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

async function records(db: Database, config: Config, out: Output): Promise<number> {
  const root = loadRootSecret(config.DATA_DIR, config.PORTAL_SECRET)
  const secrets = await openSecrets(db, root, config.PORTAL_SECRET_PREVIOUS)
  const offsetMs = config.sandbox ? await readOffset(db) : 0
  const clock: Clock = { now: () => later(systemClock.now(), offsetMs) }
  const key = await ownMailKey({ db, clock, secrets, addressing: addressingOf(config) })
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
 * `mail`: the mail of sites. Suspends a site's mail and resumes it (the acts `mail.suspend` and
 * `mail.resume`), and prints the records that the sites' own domain needs. `list` answers 1 while
 * any site's mail is suspended.
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
      options: { for: { type: 'string' }, note: { type: 'string' }, reason: { type: 'string' } },
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
  if (isWhole && values.reason !== undefined) return refuse(usage)
  if (act !== 'suspend' && (values.for ?? values.note) !== undefined) return refuse(usage)

  if (act === 'suspend' || act === 'resume') {
    const name = server ?? ''
    const state = act === 'suspend' ? 'suspended' : 'resumed'
    const reason = reasonOf(values.reason, note && note.length > 2 ? note : `${state} by command`)
    if (reason === undefined) return refuse(usage)
    const input =
      act === 'suspend'
        ? { server: name, cause, ...(note && { note }), reason }
        : { server: name, reason }
    return await actFor(config, databaseUrl, `mail.${act}`, input, out, {
      done() {
        out.line(`E-mail of ${name} is ${state}, and its owner is told.`)
        out.fields({ server: name, state, changed: true })
      },
      refused(refusal) {
        if (refusal.code !== 'conflict') return undefined
        out.line(Object.values(refusal.fieldsIn('en') ?? {}).join(' '))
        out.fields({ server: name, state, changed: false })
        return 0
      },
    })
  }
  const { db, close } = connect(databaseUrl, 2, () => undefined)
  try {
    return act === 'list' ? await list(db, out) : await records(db, config, out)
  } finally {
    await close()
  }
}

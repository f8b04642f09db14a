/**
 * Commands for the operator. Each command connects to the configured database, or to the embedded
 * server of a running portal. A command's modules are imported when it runs, so that help is
 * printed at once.
 */
import path from 'node:path'
import { CatalogFault } from './catalog/index.ts'
import { createOutput, type Output } from './commands/output.ts'
import { ConfigFault, readConfig, type Config } from './config.ts'
import { withEnvFile } from './env-file.ts'
import { startEmbeddedPostgres } from './platform/postgres/index.ts'

/**
 * Returns the exit code: 0 for success, 1 when something was found or refused, 64 (EX_USAGE of
 * sysexits.h) for a command line that is not understood. A thrown error ends with 70 or 78.
 */
type Run = (
  config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
) => Promise<number>

interface Command {
  readonly about: string
  readonly load: () => Promise<Run>
  readonly withoutDatabase?: true
}
const commands: Readonly<Record<string, Command>> = {
  act: {
    about:
      'an act of the operator, as the desk does it: act <name> --<field> <value> … --reason ' +
      '<text> [--key <key> | --again] [--dry-run]; act: their names',
    load: async () => (await import('./commands/act.ts')).actCommand,
  },
  acts: {
    about: 'the trail of acts: acts list [--customer <id>]; acts verify: whether it is whole',
    load: async () => (await import('./commands/act.ts')).actsCommand,
  },
  backup: {
    about:
      'saves the whole portal while it runs: backup <folder | s3://bucket/prefix> ' +
      '[--passphrase-file <file>]; else BACKUP_PASSPHRASE seals the secret',
    load: async () => (await import('./commands/backup.ts')).backupCommand,
  },
  catalog: {
    about:
      'the versions of the catalogue: catalog [use | show | diff | publish]; use: the file of ' +
      'this machine is the newest; publish: an act of the desk, with --dry-run a preview',
    load: async () => (await import('./commands/catalog.ts')).catalogCommand,
  },
  clock: {
    about: 'moves the clock of a portal with the sandbox: clock [+3d | 2027-01-31T00:00Z | reset]',
    load: async () => (await import('./commands/clock.ts')).clockCommand,
  },
  customers: {
    about:
      'customers of another panel: customers import <file.csv> [--dry-run] [--letters] [--reason ' +
      '<text>]; customers imports: how they stand',
    load: async () => (await import('./commands/customers.ts')).customersCommand,
  },
  export: {
    about:
      'for accounting, as CSV: export journal|tax|deferred <from> <to> <file>; an export changes ' +
      'nothing',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  jobs: {
    about: 'what waits, runs and gave up; jobs retry <id> | --queue <name> | --all: again',
    load: async () => (await import('./commands/jobs.ts')).jobsCommand,
  },
  'ledger:check': {
    about:
      'the invariants of the ledger, on what is new since the last check; --full: on every entry',
    load: async () => (await import('./commands/ledger-check.ts')).ledgerCheckCommand,
  },
  mail: {
    about:
      'e-mail that sites send; mail suspend | resume <server>; mail records: what the DNS of the ' +
      'sites’ domain needs',
    load: async () => (await import('./commands/mail.ts')).mailCommand,
  },
  migrate: {
    about: 'brings the database to the schema of this release; --plan: says what would be done',
    load: async () => (await import('./commands/migrate.ts')).migrateCommand,
  },
  node: {
    about:
      'the machines that run sites; node add <name> <host:port>: another one; node drain <name> ' +
      '[--wait]: its servers move to others; node undrain | remove | key <name>',
    load: async () => (await import('./commands/node.ts')).nodeCommand,
  },
  join: {
    about:
      'makes this machine a node of a portal, with the key that node add printed there, read ' +
      'from standard input: join <address of the portal> <name> [--no-start]',
    load: async () => (await import('./commands/join.ts')).joinCommand,
    withoutDatabase: true,
  },
  'open-archive': {
    about:
      'serves a site’s backup, or another package of a site, on this machine without a portal: ' +
      'open-archive <file> [more files] [--port 8090]',
    load: async () => (await import('./commands/open-archive.ts')).openArchiveCommand,
    withoutDatabase: true,
  },
  reconcile: {
    about: 'what gateways, payments and ledger do not agree on; reconcile 30: of the last 30 days',
    load: async () => (await import('./commands/reconcile.ts')).reconcileCommand,
  },
  refund: {
    about:
      'gives a top-up back to its source: refund <transaction code> [minor units] [reason] ' +
      '[--again]',
    load: async () => (await import('./commands/refund.ts')).refundCommand,
  },
  'refund:decide': {
    about: 'decides a refund that the gateway does not answer for: refund:decide <id> done|refused',
    load: async () => (await import('./commands/refund.ts')).refundDecideCommand,
  },
  restart: {
    about:
      'another process of the portal takes over, with the settings, catalogue and code of ' +
      'now; no call fails',
    load: async () => (await import('./commands/restart.ts')).restartCommand,
    withoutDatabase: true,
  },
  restore: {
    about:
      'puts the newest backup into an empty DATA_DIR and an empty database: ' +
      'restore <folder | s3://bucket/prefix> [--passphrase-file <file>] [--here]: sites of other ' +
      'nodes too',
    load: async () => (await import('./commands/restore.ts')).restoreCommand,
  },
  certificates: {
    about: 'which host names could not be given a certificate, why, and when it is tried again',
    load: async () => (await import('./commands/certificates.ts')).certificatesCommand,
  },
  sites: {
    about: 'which customers’ sites do not answer, or are worked on for too long, and why',
    load: async () => (await import('./commands/sites.ts')).sitesCommand,
  },
  staff: {
    about:
      'who works at the operator’s desk; staff add --email <address> --name <name> --role ' +
      '<role> [--networks <cidr,…>]: prints a link of one use',
    load: async () => (await import('./commands/staff.ts')).staffCommand,
  },
  suspense: {
    about:
      'what waits in suspense; suspense assign <number> <transaction code or e-mail>: it is ' +
      'this customer’s; suspense return <number>: it was sent back',
    load: async () => (await import('./commands/suspense.ts')).suspenseCommand,
  },
  upgrade: {
    about:
      'has the code of another folder take over: upgrade <folder>, on which npm run build was ' +
      'run; the same leads back',
    load: async () => (await import('./commands/upgrade.ts')).upgradeCommand,
    withoutDatabase: true,
  },
  updates: {
    about:
      'WordPress, plugins and themes of all sites in waves: updates plan [--stages 1,10,0] ' +
      '[--stop-percent 10] [--scope security|all] [--dry-run]; updates start | pause | resume ' +
      '[--stop-percent 50] | cancel | status <wave>',
    load: async () => (await import('./commands/updates.ts')).updatesCommand,
  },
  'verify-backup': {
    about:
      'restores the newest backup on trial, and says what agrees: verify-backup ' +
      '<folder | s3://bucket/prefix> [--passphrase-file <file>]',
    load: async () => (await import('./commands/verify-backup.ts')).verifyBackupCommand,
  },
}

/**
 * Answers the exit code; 78 for a fault of the settings or the catalogue, 70 for any other error.
 */
async function main(args: readonly string[]): Promise<number> {
  const [name = '', ...options] = args.filter((one) => !['--json', '--help', '-h'].includes(one))
  const wantsHelp = args.includes('--help') || args.includes('-h') || name === 'help'
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command && wantsHelp) {
    process.stdout.write(`${name}: ${command.about}\nWith --json it answers one object.\n`)
    return 0
  }
  if (!command) {
    const showHelp = wantsHelp || args.length === 0
    const list = Object.entries(commands)
      .map(([each, { about }]) => `  ${each.padEnd(14)} ${about}`)
      .join('\n')
    const text = `Commands, each with --help and --json:\n${list}\n`
    if (showHelp) process.stdout.write(text)
    else process.stderr.write(`There is no command ${name}. ${text}`)
    return showHelp ? 0 : 64
  }
  const out = createOutput(args.includes('--json'))
  try {
    Object.assign(process.env, withEnvFile(process.env))
    const config = readConfig(process.env)
    const postgres =
      config.DATABASE_URL === undefined && !command.withoutDatabase
        ? await startEmbeddedPostgres({
            folder: path.join(config.DATA_DIR, 'postgres'),
            runAsUser: config.EMBEDDED_PG_USER,
          })
        : undefined
    const run = await command.load()
    const code = await run(config, config.DATABASE_URL ?? postgres?.url ?? '', options, out)
    // Stop the server only if this command started it; a running portal keeps its own.
    await postgres?.stop()
    out.end()
    return code
  } catch (error) {
    out.refuse(error instanceof ConfigFault ? error.faults.join('\n') : (error as Error).message)
    out.end()
    // EX_CONFIG and EX_SOFTWARE: they differ from 1, which means a finding.
    return error instanceof ConfigFault || error instanceof CatalogFault ? 78 : 70
  }
}

// Not when the file is only compiled (scripts/bootstrap.mjs).
if (import.meta.main) process.exit(await main(process.argv.slice(2)))

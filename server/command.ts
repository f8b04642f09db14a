/** Commands for the operator. Each opens the database of this configuration (joining the portal that runs, if one does). */
import path from 'node:path'
import { CatalogFault } from './catalog/index.ts'
import { clockCommand } from './commands/clock.ts'
import { ledgerCheckCommand } from './commands/ledger-check.ts'
import { reconcileCommand } from './commands/reconcile.ts'
import { refundCommand, refundDecideCommand } from './commands/refund.ts'
import { restartCommand } from './commands/restart.ts'
import { suspenseCommand } from './commands/suspense.ts'
import { ConfigFault, readConfig, type Config } from './config.ts'
import { startEmbeddedPostgres } from './platform/postgres/index.ts'

interface Command {
  readonly about: string
  /** Answers the exit code: 0 well, 1 something was found or refused, 64 (EX_USAGE of sysexits.h) not understood. What throws ends with 70 or 78. */
  readonly run: (config: Config, databaseUrl: string, options: readonly string[]) => Promise<number>
  readonly withoutDatabase?: true
}
const commands: Readonly<Record<string, Command>> = {
  clock: { about: 'moves the clock of a portal with the sandbox: clock [+3d | 2027-01-31T00:00Z | reset]', run: clockCommand },
  'ledger:check': {
    about: 'the invariants of the ledger, on what is new since the last check; --full: on every entry',
    run: ledgerCheckCommand,
  },
  reconcile: { about: 'what gateways, payments and ledger do not agree on; reconcile 30: of the last 30 days', run: reconcileCommand },
  refund: { about: 'gives a top-up back to its source: refund <transaction code> [minor units] [reason]', run: refundCommand },
  'refund:decide': {
    about: 'decides a refund that the gateway does not answer for: refund:decide <id> done|refused',
    run: refundDecideCommand,
  },
  restart: {
    about: 'starts the portal again, with the catalogue and the code of now; customers’ sites go on',
    run: restartCommand,
    withoutDatabase: true,
  },
  suspense: {
    about: 'what waits in suspense; suspense assign <number> <transaction code or e-mail>: it is this customer’s',
    run: suspenseCommand,
  },
}

const [name = '', ...options] = process.argv.slice(2)
const command = Object.hasOwn(commands, name) ? commands[name] : undefined
if (!command) {
  const list = Object.entries(commands).map(([each, { about }]) => `  ${each.padEnd(14)} ${about}`)
  process.stderr.write(`Commands:\n${list.join('\n')}\n`)
  process.exit(64)
}
try {
  const config = readConfig(process.env)
  const postgres =
    config.DATABASE_URL === undefined && !command.withoutDatabase
      ? await startEmbeddedPostgres({ folder: path.join(config.DATA_DIR, 'postgres'), runAsUser: config.EMBEDDED_PG_USER })
      : undefined
  const code = await command.run(config, config.DATABASE_URL ?? postgres?.url ?? '', options)
  // Only the server that we started ourselves is stopped; a running portal keeps its own.
  await postgres?.stop()
  process.exit(code)
} catch (error) {
  process.stderr.write(`${error instanceof ConfigFault ? error.faults.join('\n') : (error as Error).message}\n`)
  // EX_CONFIG and EX_SOFTWARE: neither is taken for something that was found.
  process.exit(error instanceof ConfigFault || error instanceof CatalogFault ? 78 : 70)
}

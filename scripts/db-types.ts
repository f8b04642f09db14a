/**
 * Regenerates server/platform/db-types.ts from the migrations, on a scratch cluster. `--check`
 * fails when the file is not current.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { migrate } from '../server/platform/db.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'

const root = path.resolve(import.meta.dirname, '..')
const target = path.join(root, 'server/platform/db-types.ts')
const scratch = mkdtempSync(path.join(os.tmpdir(), 'portal-types-'))
const { chmodSync } = await import('node:fs')
chmodSync(scratch, 0o755)
const cluster = await startEmbeddedPostgres({ folder: scratch, settings: { fsync: 'off' } })
try {
  await migrate(cluster.url)
  const out = path.join(scratch, 'types.ts')
  const made = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules/kysely-codegen/dist/cli/bin.js'),
      '--dialect',
      'postgres',
      '--url',
      cluster.url,
      '--out-file',
      out,
      '--type-mapping',
      '{"int8":"bigint","jsonb":"unknown"}',
      '--exclude-pattern',
      'kysely_*',
      '--log-level',
      'error',
    ],
    { encoding: 'utf8', cwd: root },
  )
  if (made.status !== 0) throw new Error(made.stderr || made.stdout)
  const text = readFileSync(out, 'utf8')
  if (process.argv.includes('--check')) {
    if (readFileSync(target, 'utf8') !== text)
      throw new Error('server/platform/db-types.ts is not current: npm run db:types')
  } else writeFileSync(target, text)
} finally {
  await cluster.stop()
  rmSync(scratch, { recursive: true, force: true })
}

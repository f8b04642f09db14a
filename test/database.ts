/** A database of its own for a test file: a copy of the migrated template, made in some 30 ms. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

async function runAt(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
const asAdmin = (statement: string): Promise<void> => runAt(inject('adminUrl'), statement)

/** `run` executes one statement in it directly, without the portal. */
export async function testDatabase(): Promise<
  TestDatabase & { run(statement: string): Promise<void> }
> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(`create database ${name} template ${inject('template')}`)
  const url = inject('adminUrl').replace(/\/[^/?]+(\?|$)/, `/${name}$1`)
  const run = (statement: string): Promise<void> => runAt(url, statement)
  return { url, run, drop: () => asAdmin(`drop database if exists ${name} with (force)`) }
}

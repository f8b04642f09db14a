/** A database of its own for a test file: a copy of the migrated template, made in some 30 ms. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

async function asAdmin(statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: inject('adminUrl') })
  await admin.connect()
  try {
    await admin.query(statement)
  } finally {
    await admin.end()
  }
}

export async function testDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(`create database ${name} template ${inject('template')}`)
  const url = inject('adminUrl').replace(/\/[^/?]+(\?|$)/, `/${name}$1`)
  return { url, drop: () => asAdmin(`drop database if exists ${name} with (force)`) }
}

/** Addresses of databases, as libpq writes them. */
import { expect, test } from 'vitest'
import { readDatabaseAddress, withDatabaseName } from './database-address.ts'

const hosts = (url: string): string[] =>
  readDatabaseAddress(url).hosts.map(({ host, port }) => `${host} ${port}`)

test.each([
  ['postgres://u:p@db/portal', ['db 5432']],
  ['postgresql://u:p@db:6000/portal', ['db 6000']],
  ['postgres://u:p%40ss@a:1,b,[::1]:3/portal', ['a 1', 'b 5432', '::1 3']],
  ['postgres://u:p@/portal?host=a,b&port=1,2', ['a 1', 'b 2']],
  ['postgres://u:p@/portal?host=a,b&port=6000', ['a 6000', 'b 6000']],
  ['postgres://u:p@localhost/portal?host=%2Frun%2Fpg&port=5433', ['/run/pg 5433']],
])('%s', (url, expected) => {
  expect(hosts(url)).toEqual(expected)
})

test('`pg` gets the first host alone, and nothing that only libpq knows', () => {
  const { connectionString } = readDatabaseAddress(
    'postgres://u:p%40ss@a:1,b:2/portal?target_session_attrs=read-write&sslmode=verify-full',
  )
  const { username, password, pathname, searchParams } = new URL(connectionString)
  expect([username, password, pathname]).toEqual(['u', 'p%40ss', '/portal'])
  expect(Object.fromEntries(searchParams)).toEqual({
    host: 'a',
    port: '1',
    sslmode: 'verify-full',
  })
})

test('whatever checks the certificate checks it wholly', () => {
  const modeOf = (query: string): Record<string, string> =>
    Object.fromEntries(
      new URL(readDatabaseAddress(`postgres://u@db/portal?${query}`).connectionString).searchParams,
    )
  expect(modeOf('sslmode=require')).toEqual({ sslmode: 'verify-full' })
  expect(modeOf('sslmode=verify-full&sslrootcert=system')).toEqual({ sslmode: 'verify-full' })
  expect(modeOf('sslmode=no-verify')).toEqual({ sslmode: 'no-verify' })
  expect(modeOf('sslmode=require&uselibpqcompat=true')).toMatchObject({ sslmode: 'require' })
})

test('an address that is none throws', () => {
  expect(() => readDatabaseAddress('localhost')).toThrow(TypeError)
  expect(() => readDatabaseAddress('postgres://u:a/b@db/portal')).toThrow(TypeError)
})

test('another database of the same servers', () => {
  expect(withDatabaseName('postgres://u:p@a:1,b:2/portal?sslmode=disable', 'other')).toBe(
    'postgres://u:p@a:1,b:2/other?sslmode=disable',
  )
})

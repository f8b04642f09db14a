import { mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { envExample } from '../scripts/env-example.ts'
import { ConfigFault, readConfig } from './config.ts'
import { misspelt } from './misspelt.ts'
import { readSettings } from './settings.ts'
import { variables } from './variables/index.ts'
import { driverFaults } from './drivers.ts'

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigFault)
    return (error as ConfigFault).faults
  }
  return []
}

test('nothing set: the defaults of contract.md section 7', () => {
  expect(readConfig({})).toMatchObject({
    PORT: 8080,
    SANDBOX_PORT: 8081,
    SITES_PORT: 8082,
    DNS_PORT: 8053,
    HOST: '127.0.0.1',
    DATA_DIR: path.resolve('data'),
    DATABASE_URL: undefined,
    LOG_LEVEL: 'info',
    sandbox: true,
    portalUrl: 'http://127.0.0.1:8080',
  })
})

describe('a wrong value is one sentence that names it', () => {
  test.each<readonly [string, string]>([
    ...['PORT', 'SANDBOX_PORT', 'SITES_PORT', 'DNS_PORT'].flatMap((name) =>
      ['', ' ', '0', '65536', '-1', '80.5', 'http', '8080x', '1e3', '0x50'].map(
        (value) => [name, value] as const,
      ),
    ),
    ['HOST', ''],
    ['HOST', '  '],
    ['HOST', '999.1.1.1'],
    ['HOST', 'two words'],
    ['DATA_DIR', ''],
    ['DATA_DIR', import.meta.filename],
    ['DATA_DIR', `${import.meta.filename}/data`],
    ['DATABASE_URL', ''],
    ['DATABASE_URL', 'mysql://x'],
    ['DATABASE_URL', 'localhost'],
    ['PORTAL_URL', ''],
    ['PORTAL_URL', 'portal.example.vn'],
    ['PORTAL_URL', 'ftp://portal.example.vn'],
    ['SITES_DOMAIN', ''],
    ['SITES_DOMAIN', 'localhost'],
    ['SITES_DOMAIN', 'https://sites.example.vn'],
    ['SITES_DOMAIN', '-a.vn'],
    ['NODE_ENV', 'prod'],
    ['NODE_ENV', ''],
    ['SANDBOX', 'yes'],
    ['SANDBOX', ''],
    ['DEMO', 'true'],
    ['CATALOG', ''],
    ['PORTAL_SECRET', ''],
    ['PORTAL_SECRET', ' '.repeat(40)],
    ['PORTAL_SECRET', 'x'.repeat(31)],
    ['METRICS_TOKEN', ''],
    ['TRUST_PROXY', '1'],
    ['LOG_LEVEL', 'verbose'],
    ['REGISTRATIONS_PER_HOUR', '-1'],
    ['EMBEDDED_PG_USER', ''],
    ['WORDPRESS_INTERNET', 'yes'],
    ['WORDPRESS_RUNTIME', 'podman'],
    ['DOCKER_SOCKET', 'docker.sock'],
    ['SITES_CACHE_MB', 'much'],
    ['WORDPRESS_MAX_CONTAINERS', '0'],
    ['WORDPRESS_MAX_CONTAINERS', '51'],
    ['WORDPRESS_MAX_CONTAINERS', 'many'],
    ['WORDPRESS_MAX_CPU', '0'],
    ['WORDPRESS_MAX_CPU', 'all'],
    ['WORDPRESS_MAX_RAM_MB', '511'],
    ['WORDPRESS_PAGE_SECONDS', '9'],
    ['WORDPRESS_PAGE_SECONDS', '601'],
    ['SITES_TLS_PORT', 'https'],
    ['ACME_DIRECTORY', 'letsencrypt'],
    ['ACME_DIRECTORY', 'http://acme.example.com/directory'],
    ['ACME_EMAIL', 'admin'],
    ['ACME_ORDERS_IN_3_HOURS', '0'],
    ['VNPAY_PAY_URL', 'x'],
    ['VNPAY_API_URL', ''],
    ['ESMS_BRANDNAME', ''],
    ['ESMS_URL', 'x'],
    ['SMTP_URL', 'mail.example.vn'],
    ['MAIL_FROM', ''],
  ])('%s=%j', (name, value) => {
    const faults = faultsOf({ [name]: value })
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(new RegExp(`^${name} [^\\n]+\\.$`))
  })
  test.each([
    [{ VNPAY_TMN_CODE: 'short', VNPAY_HASH_SECRET: 's' }, 'VNPAY_TMN_CODE'],
    [{ VNPAY_TMN_CODE: 'ABCD1234', VNPAY_HASH_SECRET: ' ' }, 'VNPAY_HASH_SECRET'],
    [
      {
        STRIPE_SECRET_KEY: 'sk_test_1',
        STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
        STRIPE_WEBHOOK_SECRET: ' ',
      },
      'STRIPE_WEBHOOK_SECRET',
    ],
    [{ SQUARE_API_URL: 'connect.squareup.com' }, 'SQUARE_API_URL'],
    [{ ESMS_API_KEY: '', ESMS_SECRET_KEY: 's' }, 'ESMS_API_KEY'],
  ])('blank or misshapen keys: %o', (env, name) => {
    expect(faultsOf(env)).toEqual([expect.stringMatching(new RegExp(`^${name} `))])
  })
  test('HTTPS needs an authority, and one place where it ends', () => {
    const named = { ACME_DIRECTORY: 'https://acme.example.com/directory' }
    const tls = { SITES_TLS_PORT: '8443', SANDBOX: 'off' }
    expect(faultsOf(tls)).toEqual([expect.stringContaining('ACME_DIRECTORY')])
    expect(faultsOf({ ...tls, ...named })).toEqual([])
    expect(faultsOf({ ...tls, ...named, TRUST_PROXY: 'on' })).toEqual([
      expect.stringContaining('exclude each other'),
    ])
    expect(faultsOf({ ...named, ACME_EAB_KEY_ID: 'k' })).toEqual([
      expect.stringContaining('ACME_EAB_HMAC_KEY is missing'),
    ])
    expect(faultsOf({ ACME_FALLBACK_DIRECTORY: 'https://acme.example.com/directory' })).toEqual([
      expect.stringContaining('set ACME_DIRECTORY, too'),
    ])
    // From then on the portal's own host is behind the edge.
    const read = (env: Record<string, string>) => {
      const { sitesScheme, portalBehindEdge } = readConfig({ SANDBOX: 'off', ...env })
      return [sitesScheme, portalBehindEdge]
    }
    const sites = { SITES_DOMAIN: 'sites.example.net', PORTAL_URL: 'https://portal.example.vn' }
    expect(read(sites)).toEqual(['http', undefined])
    expect(read({ ...sites, ...tls, ...named })).toEqual(['https', 'portal.example.vn 8080'])
  })
  test('no fault shows the value: it may be a secret', () => {
    expect(
      faultsOf({
        PORTAL_SECRET: 'hush-hush',
        SMTP_URL: 'user:hush-hush@mail',
        DATABASE_URL: 'hush-hush',
      }).join(),
    ).not.toContain('hush')
  })
})

describe('a setting under its former name', () => {
  test.each([
    ['REGISTRATIONS_AN_HOUR', 'REGISTRATIONS_PER_HOUR', '3', '4', 3, 4],
    ['DNS_TRANSFER_TO', 'DNS_AXFR_ALLOW', '192.0.2.1', '192.0.2.2', ['192.0.2.1'], ['192.0.2.2']],
    ['BACKUPS_KEPT', 'BACKUP_RETENTION', '3', '4', 3, 4],
    ['BACKUPS_KEPT_AFTER_DELETION_DAYS', 'BACKUP_RETENTION_AFTER_DELETION_DAYS', '0', '30', 0, 30],
  ] as const)('%s works as %s, which wins', (former, name, old, fresh, oldValue, freshValue) => {
    expect(readConfig({ [former]: old })[name]).toEqual(oldValue)
    expect(readConfig({ [former]: old, [name]: fresh })[name]).toEqual(freshValue)
    expect(readConfig({ [name]: fresh, [former]: old })[name]).toEqual(freshValue)
  })
  test('is told of at the start, beside the misspelt ones', () => {
    const warningsOf = (env: Record<string, string>) => {
      const settings = readSettings(env)
      return 'warnings' in settings ? settings.warnings : settings.faults
    }
    expect(warningsOf({ BACKUPS_KEPT: '3', TRUST_PROXI: 'on' })).toEqual([
      'BACKUPS_KEPT is the former name of BACKUP_RETENTION: it still works, rename it.',
      'TRUST_PROXI is no setting of the portal: is TRUST_PROXY meant?',
    ])
    expect(warningsOf({ BACKUPS_KEPT: '3', BACKUP_RETENTION: '4' })).toEqual([
      'BACKUPS_KEPT is the former name of BACKUP_RETENTION, which is set as well: ' +
        'BACKUPS_KEPT is ignored, remove it.',
    ])
    expect(warningsOf({})).toEqual([])
    expect(warningsOf({ WORDPRESS_RUNTIME: 'docker' })).toEqual([
      expect.stringMatching(/^WORDPRESS_RUNTIME=docker is new: try it/),
    ])
  })
  test('with a wrong value, is told of beside the fault', () => {
    expect(faultsOf({ REGISTRATIONS_AN_HOUR: '-1' })).toEqual([
      'REGISTRATIONS_PER_HOUR must be a number, 0 or more.',
      'REGISTRATIONS_AN_HOUR is the former name of REGISTRATIONS_PER_HOUR: it still works, ' +
        'rename it.',
    ])
  })
})

test('several faults come at once, in the order of the table', () => {
  const faults = faultsOf({
    PORT: 'x',
    NODE_ENV: 'prod',
    PORTAL_SECRET: '',
    VNPAY_TMN_CODE: 'ABCD1234',
  })
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
    'PORT',
    'NODE_ENV',
    'PORTAL_SECRET',
    'VNPAY_TMN_CODE',
  ])
})

test('keys that only make sense together', () => {
  expect(faultsOf({ VNPAY_HASH_SECRET: 's' })).toEqual([
    'VNPAY_TMN_CODE and VNPAY_HASH_SECRET must be set together: VNPAY_TMN_CODE is missing.',
  ])
  expect(faultsOf({ ESMS_API_KEY: 'k' })).toEqual([
    'ESMS_API_KEY and ESMS_SECRET_KEY must be set together: ESMS_SECRET_KEY is missing.',
  ])
  expect(faultsOf({ STRIPE_SECRET_KEY: 'sk_test_1' })).toEqual([
    'STRIPE_SECRET_KEY and STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET must be set ' +
      'together: STRIPE_PUBLISHABLE_KEY, STRIPE_WEBHOOK_SECRET is missing.',
  ])
  expect(faultsOf({ VNPAY_TMN_CODE: 'ABCD1234', VNPAY_HASH_SECRET: 's' })).toEqual([])
})

describe('what operators got wrong is told in a sentence', () => {
  const closed = path.join(os.tmpdir(), `portal-closed-${process.pid}`)
  test('a folder that may not be entered', () => {
    mkdirSync(closed, { mode: 0o000 })
    onTestFinished(() => rmdirSync(closed))
    // Root may enter every folder.
    const faults = faultsOf({ DATA_DIR: path.join(closed, 'data') })
    expect(faults).toEqual(
      process.getuid?.() === 0 ? [] : ['DATA_DIR lies in a folder that this user may not enter.'],
    )
  })
  test.each([
    ['DATABASE_URL', 'postgres://portal:pa#ss@db/portal', /%23/],
    ['DATABASE_URL', 'postgres://portal:12#ss@db/portal', /%23/],
    ['PORTAL_URL', 'https://portal.example.vn/panel', /no path/],
    ['MAIL_FROM', 'nobody', /e-mail address/],
  ])('%s=%s', (name, value, sentence) => {
    const [fault, ...more] = faultsOf({ NODE_ENV: 'production', [name]: value })
    expect(fault).toMatch(new RegExp(`^${name} .*\\.$`))
    expect(fault).toMatch(sentence)
    expect(more).toEqual([])
  })
  test('an address without TLS in production, but for this machine itself', () => {
    const at = (PORTAL_URL: string) => faultsOf({ NODE_ENV: 'production', PORTAL_URL })
    expect(at('http://portal.example.vn')).toEqual([
      expect.stringMatching(/^PORTAL_URL must begin with https:/),
    ])
    expect(at('http://127.0.0.1:8080')).toEqual([])
    expect(at('https://portal.example.vn')).toEqual([])
  })
  test("customers' sites below the portal's own host", () => {
    const PORTAL_URL = 'https://portal.example.vn'
    const production = { NODE_ENV: 'production', PORTAL_URL }
    for (const SITES_DOMAIN of ['portal.example.vn', 'example.vn'])
      expect(faultsOf({ ...production, SITES_DOMAIN })).toEqual([
        expect.stringMatching(/^SITES_DOMAIN .* portal\.example\.vn.*\.$/),
      ])
    expect(faultsOf({ ...production, SITES_DOMAIN: 'sites-of-example.vn' })).toEqual([])
  })
  test('keys and addresses for tests, in production', () => {
    const keys = { STRIPE_PUBLISHABLE_KEY: 'pk_live_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }
    const production = { NODE_ENV: 'production', ...keys }
    expect(faultsOf({ ...production, STRIPE_SECRET_KEY: 'sk_test_1' })).toEqual([
      expect.stringMatching(/^STRIPE_SECRET_KEY is for tests: /),
    ])
    expect(faultsOf({ ...production, STRIPE_SECRET_KEY: 'sk_live_1' })).toEqual([])
    expect(faultsOf({ ...keys, STRIPE_SECRET_KEY: 'sk_test_1' })).toEqual([])
  })
  test('a name that is nearly one of ours', () => {
    const doubts = (env: Record<string, string>) => misspelt(env, Object.keys(variables))
    expect(doubts({ PORTAL_SECERT: 'x', TRUST_PROXI: 'on' })).toEqual([
      'PORTAL_SECERT is no setting of the portal: is PORTAL_SECRET meant?',
      'TRUST_PROXI is no setting of the portal: is TRUST_PROXY meant?',
    ])
    expect(doubts({ HOME: '/', PATH: '/bin', LANGUAGE: 'vi', POSTGRES_PASSWORD: 'x' })).toEqual([])
    expect(doubts(Object.fromEntries(Object.keys(variables).map((name) => [name, 'x'])))).toEqual(
      [],
    )
  })
})

test('two ports alike, also with a default', () => {
  expect(faultsOf({ PORT: '9000', SITES_PORT: '9000' })).toEqual([
    'SITES_PORT and PORT are both 9000: give each its own port.',
  ])
  expect(faultsOf({ PORT: '8081' })).toEqual([
    'SANDBOX_PORT and PORT are both 8081: give each its own port.',
  ])
  expect(faultsOf({ PORT: 'x', SITES_PORT: 'x' })).toHaveLength(2)
})

describe('production', () => {
  test('refuses the sandbox unless it is meant', () => {
    expect(faultsOf({ NODE_ENV: 'production', SANDBOX: 'on' })).toEqual([
      expect.stringMatching(/^SANDBOX=on is refused in production: .+SANDBOX=allow.+\.$/),
    ])
    expect(readConfig({ NODE_ENV: 'production' }).sandbox).toBe(false)
    expect(readConfig({ NODE_ENV: 'production', SANDBOX: 'off' }).sandbox).toBe(false)
    expect(readConfig({ NODE_ENV: 'production', SANDBOX: 'allow' }).sandbox).toBe(true)
    expect(readConfig({ SANDBOX: 'off' }).sandbox).toBe(false)
  })
  test('says what then nobody can do', () => {
    expect(
      driverFaults(readConfig({ NODE_ENV: 'production' })).map(
        (fault) => /[A-Z_]{6,}/.exec(fault)?.[0],
      ),
    ).toEqual(['ESMS_API_KEY', 'SMTP_URL'])
    const given = {
      NODE_ENV: 'production',
      ESMS_API_KEY: 'k',
      ESMS_SECRET_KEY: 's',
      SMTP_URL: 'smtps://mail.example.vn',
      MAIL_FROM: 'portal@example.vn',
    }
    expect(driverFaults(readConfig(given))).toEqual([])
    expect(driverFaults(readConfig({}))).toEqual([])
    const vnpay = { VNPAY_TMN_CODE: 'TERMINAL', VNPAY_HASH_SECRET: 's' }
    expect(driverFaults(readConfig({ SANDBOX: 'off', ...vnpay }))[0]).toContain(
      "VNPay's test environment",
    )
    expect(driverFaults(readConfig(vnpay))).toEqual([])
  })
  test('letters to a real mail server need a sender that it takes', () => {
    const mail = { SANDBOX: 'allow', SMTP_URL: 'smtps://mail.example.vn' }
    const of = (env: Record<string, string>) => driverFaults(readConfig(env))
    const refused = [expect.stringMatching(/^MAIL_FROM is an address at localhost.*\.$/)]
    expect(of({ NODE_ENV: 'production', ...mail })).toEqual(refused)
    const named = { ...mail, MAIL_FROM: 'Portal <portal@localhost>' }
    expect(of({ NODE_ENV: 'production', ...named })).toEqual(refused)
    expect(of({ NODE_ENV: 'production', ...mail, MAIL_FROM: 'portal@example.vn' })).toEqual([])
    // The sandbox accepts every sender, and a developer's mail server may.
    expect(of({ NODE_ENV: 'production', SANDBOX: 'allow' })).toEqual([])
    expect(of(mail)).toEqual([])
  })
})

test('the address that customers see', () => {
  expect(readConfig({ HOST: '0.0.0.0', PORT: '81', SANDBOX: 'off' }).portalUrl).toBe(
    'http://localhost:81',
  )
  expect(readConfig({ HOST: '::1' }).portalUrl).toBe('http://[::1]:8080')
  expect(readConfig({ PORTAL_URL: 'https://portal.example.vn//', SANDBOX: 'on' }).portalUrl).toBe(
    'https://portal.example.vn',
  )
})

test('a public address has no sandbox by accident, and production no demo customer', () => {
  expect(() => readConfig({ PORTAL_URL: 'https://portal.example.vn' })).toThrow(
    'PORTAL_URL is public',
  )
  expect(readConfig({ NODE_ENV: 'production', SANDBOX: 'allow' }).demo).toBe(false)
  expect(readConfig({ NODE_ENV: 'production', SANDBOX: 'allow', DEMO: 'on' }).demo).toBe(true)
  expect(readConfig({}).demo).toBe(true)
})

test('the sandbox is not shown to a network unless the operator means it', () => {
  for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'portal.example.vn'])
    for (const SANDBOX of [undefined, 'on'])
      expect(() => readConfig({ HOST, SANDBOX })).toThrow(`HOST=${HOST} is no loopback address`)
  for (const HOST of ['127.0.0.1', '127.8.9.1', '::1', 'localhost'])
    expect(readConfig({ HOST }).sandbox).toBe(true)
  expect(readConfig({ HOST: '0.0.0.0', SANDBOX: 'allow' }).sandbox).toBe(true)
  expect(readConfig({ HOST: '0.0.0.0', NODE_ENV: 'production' }).sandbox).toBe(false)
})

describe('.env.example', () => {
  const file = readFileSync(path.resolve(import.meta.dirname, '../.env.example'), 'utf8')
  test('is current: node scripts/env-example.ts', () => expect(file).toBe(envExample()))
  test('names every variable and no other; as it is, or with values, it starts', () => {
    const rows = [...file.matchAll(/^#?([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    )
    expect(rows.map(([name]) => name)).toEqual(Object.keys(variables))
    expect(file).not.toMatch(/^[A-Z]/m)
    expect(readConfig(Object.fromEntries(rows.filter(([, value]) => value !== '')))).toEqual(
      readConfig({}),
    )
  })
})

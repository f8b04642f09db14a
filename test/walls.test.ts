/**
 * The walls between the modules hold, and each would detect a breach: for every rule a violation is
 * planted in a scratch copy of the plan.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  cruise,
  type ICruiseResult,
  type IFlattenedRuleSet,
  type ICruiseOptions,
} from 'dependency-cruiser'
import { afterAll, describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const rules = JSON.parse(readFileSync(path.join(root, '.dependency-cruiser.json'), 'utf8')) as {
  forbidden: { name: string }[]
  options: ICruiseOptions
}

async function breaches(
  base: string,
  folders: string[],
): Promise<{ read: number; found: string[] }> {
  const { output } = await cruise(folders, {
    ...rules.options,
    baseDir: base,
    ruleSet: { forbidden: rules.forbidden } as IFlattenedRuleSet,
    validate: true,
  })
  const { summary } = output as ICruiseResult
  return {
    read: summary.totalCruised,
    found: summary.violations.map(
      (violation) => `${violation.rule.name}: ${violation.from} → ${violation.to}`,
    ),
  }
}

test('the walls stand, and the guard is awake', async () => {
  const { read, found } = await breaches(root, ['contract', 'server', 'sandbox', 'web'])
  // A guard that reads no files would find no violation.
  expect(read).toBeGreaterThan(150)
  expect(found).toEqual([])
})

/** For each rule: the files that break it. Every imported file exists. */
const faults: Record<string, Record<string, string>> = {
  'contract-knows-nobody': {
    'contract/a.ts': "import '../server/wallet/index.ts'",
    'server/wallet/index.ts': 'export {}',
  },
  'web-and-server-meet-only-in-the-contract': {
    'web/a.ts': "import '../server/wallet/index.ts'",
    'server/wallet/index.ts': 'export {}',
  },
  'server-knows-no-page': { 'server/api.ts': "import '../web/a.ts'", 'web/a.ts': 'export {}' },
  'the-sandbox-is-apart': {
    'sandbox/a.ts': "import '../server/wallet/index.ts'",
    'server/wallet/index.ts': 'export {}',
  },
  'only-the-portal-opens-the-sandbox': {
    'server/main.ts': "import '../sandbox/index.ts'",
    'sandbox/index.ts': 'export {}',
  },
  'only-the-portal-opens-the-app': {
    'server/wallet/a.ts': "import '../app/index.ts'",
    'server/app/index.ts': 'export {}',
  },
  'nobody-imports-a-runtime': {
    'server/api.ts': "import '../runtimes/x/main.js'",
    'runtimes/x/main.js': 'export {}',
  },
  'platform-knows-no-module': {
    'server/platform/a.ts': "import '../wallet/index.ts'",
    'server/wallet/index.ts': 'export {}',
  },
  'modules-are-entered-by-their-index': {
    'server/billing/a.ts': "import '../wallet/ledger.ts'",
    'server/wallet/ledger.ts': 'export {}',
  },
  'the-app-enters-modules-by-their-index': {
    'server/api.ts': "import './wallet/ledger.ts'",
    'server/wallet/ledger.ts': 'export {}',
  },
  'drivers-are-picked-in-one-place': {
    'server/drivers.ts': "import './payments/drivers/vnpay/index.ts'",
    'server/payments/drivers/vnpay/index.ts': 'export {}',
  },
  'only-drivers-ts-picks': {
    'server/payments/a.ts': "import './drivers/index.ts'",
    'server/payments/drivers/index.ts': 'export {}',
  },
  'a-driver-sees-only-its-folder-and-the-agreement': {
    'server/payments/drivers/vnpay/a.ts': "import '../../../platform/db.ts'",
    'server/platform/db.ts': 'export {}',
  },
  'ui-knows-no-feature': {
    'web/ui/a.ts': "import '../wallet/a.ts'",
    'web/wallet/a.ts': 'export {}',
  },
  'only-routes-speak-http': { 'server/wallet/ledger.ts': "import 'fastify'" },
  'lower-layer-imports-no-upper': {
    'server/wallet/a.ts': "import '../billing/index.ts'",
    'server/billing/index.ts': 'export {}',
  },
  'middle-layer-imports-no-upper': {
    'server/billing/a.ts': "import '../wordpress/index.ts'",
    'server/wordpress/index.ts': 'export {}',
  },
  'upper-modules-ignore-each-other': {
    'server/wordpress/a.ts': "import '../dns/index.ts'",
    'server/dns/index.ts': 'export {}',
  },
  'no-module-imports-those-above-it': {
    'server/wordpress/a.ts': "import '../privacy/index.ts'",
    'server/privacy/index.ts': 'export {}',
  },
  'nobody-imports-the-desk': {
    'server/auth/a.ts': "import '../operator/index.ts'",
    'server/operator/index.ts': 'export {}',
  },
  'customers-pages-load-nothing-of-the-desk': {
    'web/shell/a.ts': "import '../operator/a.ts'",
    'web/operator/a.ts': 'export {}',
  },
  'the-edge-knows-nobody': {
    'server/edge/a.ts': "import '../platform/db.ts'",
    'server/platform/db.ts': 'export {}',
  },
  // The least visible cycle: a dynamic import one way, a type the other way.
  'no-cycles': {
    'web/a.ts': "export type A = 1; export const b = () => import('./b.ts')",
    'web/b.ts': "import type { A } from './a.ts'; export const one: A = 1",
  },
  'no-orphans': { 'server/wallet/a.ts': 'export const lonely = 1' },
  'what-runs-is-a-dependency': { 'server/wallet/a.ts': "import 'vitest'" },
}

describe('each wall notices a breach', () => {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'portal-walls-'))
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test('every rule has its planted fault', () => {
    expect(Object.keys(faults).sort()).toEqual(rules.forbidden.map((rule) => rule.name).sort())
  })

  for (const [rule, files] of Object.entries(faults)) {
    test(rule, async () => {
      const place = path.join(scratch, rule)
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(place, file)), { recursive: true })
        writeFileSync(path.join(place, file), text)
      }
      writeFileSync(path.join(place, 'package.json'), readFileSync(path.join(root, 'package.json')))
      symlinkSync(path.join(root, 'node_modules'), path.join(place, 'node_modules'))
      const { found } = await breaches(place, [
        ...new Set(Object.keys(files).map((file) => file.split('/')[0] ?? '')),
      ])
      expect(found.join('\n')).toContain(rule)
    })
  }

  test('of the platform a driver gets these files and no other', async () => {
    const place = path.join(scratch, 'platform')
    const platform = path.join(place, 'server/platform')
    const driver = path.join(place, 'server/payments/drivers/vnpay')
    for (const folder of [platform, driver]) mkdirSync(folder, { recursive: true })
    const files = readdirSync(path.join(root, 'server/platform')).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    )
    for (const file of files) writeFileSync(path.join(platform, file), 'export {}')
    writeFileSync(
      path.join(driver, 'a.ts'),
      files.map((file) => `import '../../../platform/${file}'`).join('\n'),
    )
    const rule = 'a-driver-sees-only-its-folder-and-the-agreement'
    const { found } = await breaches(place, ['server'])
    const refused = found.filter((breach) => breach.startsWith(rule)).join('\n')
    expect(files.filter((file) => !refused.includes(`/platform/${file}`))).toEqual([
      'constant-time.ts',
      'disk-space.ts',
      'errors.ts',
      'front-page.ts',
      'http-client.ts',
      'network.ts',
      'rpc.ts',
      'vietnam-time.ts',
      'zip.ts',
    ])
  })
})

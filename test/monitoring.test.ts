/**
 * The alert rules and the dashboard use metrics, labels and values that a started portal exposes,
 * and docs/operate.md says what to do about each alert.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { openTestPortal, type TestPortal } from './portal.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8')

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}
interface Panel {
  title: string
  type: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}
const rules = (
  parse(read('packaging/prometheus/alerts.yaml')) as { groups: { name: string; rules: Rule[] }[] }
).groups.flatMap((group) => group.rules)
const { panels } = JSON.parse(read('packaging/grafana/portal.json')) as { panels: Panel[] }
const drawn = panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
)

const words = new Set(['and', 'or', 'unless', 'by', 'on', 'without', 'ignoring', 'bool'])
/** Prometheus itself creates it for each target. */
const ofPrometheus = new Set(['up'])

/** The metrics of a PromQL expression, with the labels and values that it selects. */
function selected(expr: string): { name: string; labels: Map<string, string | undefined> }[] {
  const plain = expr
    .replaceAll(/\b(?:by|on|without|ignoring)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[\w+\]/g, ' ')
  const found = plain.matchAll(/(?<![\w"])([a-z_]\w*)(?:\{([^}]*)\})?(?!\w*\s*\()/gi)
  return [...found].flatMap(([, name = '', inner = '']) => {
    if (words.has(name)) return []
    const labels = new Map(
      [...inner.matchAll(/(\w+)(=~?)"([^"]*)"/g)].map(([, label = '', how, value]) => [
        label,
        how === '=' ? value : undefined,
      ]),
    )
    return [{ name, labels }]
  })
}

let portal: TestPortal
/** Series by metric, each with its labels. */
const series = new Map<string, Map<string, string>[]>()
beforeAll(async () => {
  portal = await openTestPortal()
  await portal.call('GET', '/api/config')
  const { text } = await portal.call('GET', '/metrics')
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gm)) series.set(name, [])
  for (const [, name = '', inner = ''] of text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gim)) {
    const labels = new Map(
      [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
    )
    series.set(name, [...(series.get(name) ?? []), labels])
  }
  // A histogram without a measurement has no series yet, but all three names.
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) histogram/gm))
    for (const part of ['_bucket', '_sum', '_count'])
      if (!series.has(name + part)) series.set(name + part, [])
}, 60_000)
afterAll(() => portal.close())

/** The parts of an expression that no portal exposes. */
const unknownIn = (expr: string): string[] =>
  selected(expr).flatMap(({ name, labels }) => {
    const all = series.get(name)
    if (ofPrometheus.has(name)) return []
    if (!all) return [name]
    if (all.length === 0) return []
    return [...labels].flatMap(([label, value]) =>
      all.some((one) => one.has(label) && (value === undefined || one.get(label) === value))
        ? []
        : [`${name}{${label}="${value ?? ''}"}`],
    )
  })

test('every metric of the alerts and of the dashboard is one that the portal exposes', () => {
  const all = [...rules.map(({ expr }) => expr), ...drawn]
  expect(all.length).toBeGreaterThan(70)
  expect(all.flatMap((expr) => (selected(expr).length > 0 ? [] : [expr]))).toEqual([])
  expect(all.flatMap(unknownIn)).toEqual([])
})

test('the guard notices a name, a label and a value that nobody exposes', () => {
  expect(
    unknownIn(
      'sum by (instance) (rate(portal_gone_total{status="5xx"}[5m])) > 0 and sites_running',
    ),
  ).toEqual(['portal_gone_total'])
  expect(unknownIn('portal_process_up{role="portal"} == 0')).toEqual([
    'portal_process_up{role="portal"}',
  ])
  expect(unknownIn('portal_process_up{process="nobody"} == 0')).toEqual([
    'portal_process_up{process="nobody"}',
  ])
})

test('each alert is named once, says what is wrong, and stands in docs/operate.md', () => {
  const names = rules.map(({ alert }) => alert)
  expect(new Set(names).size).toBe(names.length)
  for (const rule of rules) {
    expect(['critical', 'warning', 'info']).toContain(rule.labels.severity)
    expect(rule.annotations.summary).not.toBe('')
    expect(rule.annotations.description).not.toBe('')
  }
  const told = [...read('docs/operate.md').matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name)
  expect(names.filter((name) => !told.includes(name))).toEqual([])
})

test('what docs/operate.md and the alerts call by name is a metric or an alert', () => {
  const text = read('docs/operate.md')
  const health = text.slice(text.indexOf('**Health.**'), text.indexOf('**Log.**'))
  const named = [...health.matchAll(/`((?:portal|ledger|billing|messages|sites)_\w+)`/g)]
  expect(named.length).toBeGreaterThan(5)
  expect(named.flatMap(([, name = '']) => (series.has(name) ? [] : [name]))).toEqual([])
})

test('no two panels of the dashboard lie on each other', () => {
  const taken = new Set<string>()
  for (const { gridPos: at, title } of panels)
    for (let x = at.x; x < at.x + at.w; x++)
      for (let y = at.y; y < at.y + at.h; y++) {
        expect([title, x < 24, taken.has(`${x} ${y}`)]).toEqual([title, true, false])
        taken.add(`${x} ${y}`)
      }
})

test('backups of the portal, letters and certificates each have an alert', () => {
  const watched = rules.flatMap(({ expr }) => selected(expr).map(({ name }) => name))
  expect(watched).toEqual(
    expect.arrayContaining([
      'portal_backup_verified_timestamp_seconds',
      'portal_backup_failed',
      'portal_backup_sites_missing',
      'portal_messages_given_up',
      'portal_certificate_first_end_seconds',
    ]),
  )
})

test('a recipe with a mail server says whom letters are from', () => {
  for (const file of ['docs/operate.md', 'packaging/stack.yaml', 'packaging/compose.yaml'])
    for (const [at] of read(file).matchAll(/^.*SMTP_URL(?:=| with).*\n.*$/gm))
      expect(at, file).toContain('MAIL_FROM')
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
test.skipIf(!hasPromtool)(
  hasPromtool
    ? 'promtool understands the alerts and what the dashboard asks'
    : 'promtool is not installed: it has not checked the rules',
  () => {
    const check = (file: string): void => {
      const { status, stderr } = spawnSync('promtool', ['check', 'rules', file])
      expect([stderr.toString(), status]).toEqual(['', 0])
    }
    check(path.join(root, 'packaging/prometheus/alerts.yaml'))
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-rules-'))
    const file = path.join(folder, 'dashboard.yaml')
    const recorded = drawn.map((expr, index) => ({ record: `panel:${index}`, expr }))
    fs.writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
    check(file)
    fs.rmSync(folder, { recursive: true })
  },
)

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseAutomatic, isNightOver, nextNight, timeZoneOf } from './update-policy.ts'

const core = { kind: 'core', slug: 'wordpress', version: '7.1.2', security: true } as const
const major = { ...core, version: '7.2', security: false }
const plugin = { kind: 'plugin', slug: 'a', version: '2', security: false } as const
const urgent = { kind: 'plugin', slug: 'b', version: '3', security: true } as const
const all = [core, major, plugin, urgent]
const back = (...packages: { kind: string; slug: string; version: string }[]) => ({
  packages: packages.map(({ kind, slug, version }) => ({ kind, slug, to: version })),
})

test('security releases of WordPress come always, the rest as its owner has chosen', () => {
  expect(chooseAutomatic(all, 'security', [])).toEqual([core, urgent])
  expect(chooseAutomatic(all, 'none', [])).toEqual([core])
  expect(chooseAutomatic(all, 'all', [])).toEqual([core, plugin, urgent])
})

test('what was rolled back alone is not tried again, what was together is tried alone', () => {
  expect(chooseAutomatic(all, 'security', [back(core)])).toEqual([urgent])
  expect(chooseAutomatic(all, 'security', [back(core, urgent)])).toEqual([core])
  expect(chooseAutomatic(all, 'security', [back(core, urgent), back(core)])).toEqual([urgent])
  expect(chooseAutomatic(all, 'security', [back(core), back(urgent)])).toEqual([])
  // Another release may be tried.
  expect(chooseAutomatic([core], 'none', [back({ ...core, version: '7.1.1' })])).toEqual([core])
})

test('a night is a night where the server is, and each server has its own minute of it', () => {
  expect(timeZoneOf('VN')).toMatch(/^Asia\/(?:Saigon|Ho_Chi_Minh)$/)
  expect(timeZoneOf('JP')).toBe('Asia/Tokyo')
  const zones = ['VN', 'SG', 'AU', 'JP', 'DE', 'XX'].map((country) => timeZoneOf(country))
  const moment = fc.date({
    min: new Date('2026-01-01T00:00:00Z'),
    max: new Date('2028-01-01T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(moment, fc.constantFrom(...zones), (now, zone) => {
      const id = randomUUID()
      const next = nextNight(id, zone, now)
      expect(next > now).toBe(true)
      expect(next.getTime() - now.getTime()).toBeLessThanOrEqual(24 * 3_600_000)
      const hour = Number(
        new Intl.DateTimeFormat('en', { timeZone: zone, hour: 'numeric', hourCycle: 'h23' }).format(
          next,
        ),
      )
      // On a night when clocks change it may be an hour off.
      expect(hour).toBeGreaterThanOrEqual(1)
      expect(hour).toBeLessThanOrEqual(5)
      expect(isNightOver(next, next)).toBe(false)
      expect(isNightOver(next, new Date(next.getTime() + 4 * 3_600_000))).toBe(true)
    }),
  )
})

/** The operator's dress: name, colour and logo of the page, and the legal texts. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'
import { loadCatalog, parseCatalog } from '../catalog/index.ts'
import { branded, brandOf } from './brand.ts'

const file = path.resolve(import.meta.dirname, '../../catalog.yaml')
const text = readFileSync(file, 'utf8')
const html =
  '<head><title>Let’s Panel</title><link rel="icon" href="/favicon.svg" type="image/svg+xml" ' +
  '/></head><svg viewBox="0 0 32 32" width="28"><rect fill="#4361EE"/></svg>'

describe('the page', () => {
  test('carries the name wherever it is read, and no markup with it', () => {
    const page = branded(html, { name: 'Mây & "Gió" <b>', color: null, logo: null })
    expect(page).toContain('<title>Mây &amp; &quot;Gió&quot; &lt;b&gt;</title>')
    expect(page).toContain('<meta name="brand" content="Mây &amp; &quot;Gió&quot; &lt;b&gt;">')
    expect(page).not.toContain('--primary')
  })
  test('is drawn in the colour and with the logo', () => {
    const page = branded(html, {
      name: 'Mây',
      color: '#0B6E4F',
      logo: { type: 'image/png', bytes: Buffer.from('x') },
    })
    expect(page).toContain('--primary:#0B6E4F')
    expect(page).toContain('<link rel="icon" href="/brand/logo" type="image/png">')
    expect(page).toContain('<img src="/brand/logo"')
    expect(page).not.toContain('<svg')
  })
})

describe('the catalogue', () => {
  const withBrand = (color: string, logo = 'null') =>
    text
      .replace(/^ {2}color: null$/m, `  color: '${color}'`)
      .replace(/^ {2}logo: null$/m, `  logo: ${logo}`)
  test('refuses a colour that white letters cannot be read on', () => {
    expect(parseCatalog(withBrand('#0B6E4F'), 'c').brand.color).toBe('#0B6E4F')
    expect(() => parseCatalog(withBrand('#FFD400'), 'c')).toThrow(
      /line \d+: brand\.color: is too light/,
    )
    expect(() => parseCatalog(withBrand('red'), 'c')).toThrow(/brand\.color/)
  })
  test('names a logo that is not there', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-brand-'))
    try {
      const catalog = parseCatalog(withBrand('#0B6E4F', 'logo.svg'), 'c')
      expect(() => brandOf(catalog, folder)).toThrow(/logo\.svg cannot be read/)
      writeFileSync(path.join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
      expect(brandOf(catalog, folder).logo?.type).toBe('image/svg+xml')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a portal', () => {
  let portal: TestPortal
  beforeAll(async () => {
    portal = await openTestPortal()
  })
  afterAll(() => portal.close())

  test('shows the legal texts of the catalogue in both languages, and no others', async () => {
    const read = (page: string, language: string) =>
      portal.call<{ paragraphs: string[] }>('GET', `/api/legal/${page}`, {
        headers: { 'accept-language': language },
      })
    for (const page of ['terms', 'privacy', 'cookies']) {
      const [en, vi] = [await read(page, 'en'), await read(page, 'vi')]
      expect(en.body.result.paragraphs.length).toBeGreaterThan(3)
      expect(vi.body.result.paragraphs).toHaveLength(en.body.result.paragraphs.length)
      expect(vi.body.result.paragraphs).not.toEqual(en.body.result.paragraphs)
    }
    expect((await read('imprint', 'en')).status).toBe(422)
    expect(
      (await (await fetch(`${portal.url}/legal/terms`)).text()).includes(
        `<title>${loadCatalog(file).brand.name}</title>`,
      ),
    ).toBe(true)
  })
})

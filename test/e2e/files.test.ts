/** The files on a server's page: uploaded, downloaded, edited, renamed, deleted. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Locator } from 'playwright-core'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { freePort, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  keepPicture,
  openBrowser,
  phone,
  sideways,
  violations,
  visitAs,
  wide,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
let customer: TestCustomer
let id: string
let name: string
beforeAll(async () => {
  const SFTP_PORT = String(await freePort())
  ;[portal, browser] = await Promise.all([openTestPortal({ env: { SFTP_PORT } }), openBrowser()])
  customer = await portal.customer()
  await portal.topUp(customer, 500_000)
  ;({ id, name } = await orderServer(portal, customer))
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const open = async (language: 'en' | 'vi', viewport = wide, theme: 'light' | 'dark' = 'light') => {
  const visit = await visitAs(browser, { language, viewport, theme, customer })
  // As in browsers on a portal that is opened by its IP address without https.
  await visit.context.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, 'randomUUID'))
  await visit.page.goto(`${portal.url}/wordpress/${id}?tab=files`)
  return visit
}
const focusOn = (of: Locator): Promise<void> =>
  expect.poll(() => of.evaluate((element) => element === document.activeElement)).toBe(true)
const there = (name: string): string => path.join(portal.dataDir, 'sites', id, 'wordpress', name)

test('a file goes up, is edited, renamed, brought down and deleted', async () => {
  const { page, complaints } = await open('en')
  const list = page.getByRole('list', { name: 'Files' })
  await page.getByRole('button', { name: 'New folder' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('ảnh')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await list.getByRole('button', { name: 'ảnh' }).first().click()
  await page.getByText('This folder is empty').waitFor()

  const choose = page.locator('input[type=file]')
  const large = Buffer.alloc(1_200_000, 7)
  await choose.setInputFiles([
    { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('xin chào') },
    { name: 'large.bin', mimeType: 'application/octet-stream', buffer: large },
  ])
  await list.getByText('large.bin').waitFor()
  expect((await readFile(there('ảnh/large.bin'))).equals(large)).toBe(true)

  await list.getByRole('button', { name: 'a.txt' }).first().click()
  await dialog.getByRole('textbox').fill('xin chào bạn')
  await keepPicture(page, 'files-edit')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('a.txt is saved.').waitFor()
  expect(await readFile(there('ảnh/a.txt'), 'utf8')).toBe('xin chào bạn')

  // An existing file is replaced only with its owner's consent.
  await choose.setInputFiles({
    name: 'a.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('khác'),
  })
  await page.getByText('There is a file of this name already.').waitFor()
  expect(await readFile(there('ảnh/a.txt'), 'utf8')).toBe('xin chào bạn')
  await page.getByRole('button', { name: 'Replace it' }).click()
  await expect.poll(() => readFile(there('ảnh/a.txt'), 'utf8')).toBe('khác')

  await page.getByRole('button', { name: 'Actions for large.bin' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await dialog.getByLabel('Name').fill('a.txt')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await dialog.getByText('There is something of that name already.').waitFor()
  await dialog.getByLabel('Name').fill('b.bin')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await list.getByText('b.bin').waitFor()

  await page.getByRole('button', { name: 'Actions for b.bin' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download' }).click(),
  ])
  expect((await readFile(await download.path())).equals(large)).toBe(true)

  await page.getByRole('button', { name: 'Up one folder' }).click()
  await page.getByRole('button', { name: 'Actions for ảnh' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog.getByText('everything in it').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await list.getByText('ảnh').waitFor({ state: 'detached' })
  // The browser's console logs the server's refusal as a failed request.
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
})

/** The lines of a name as rendered. */
const linesOf = (of: Locator): Promise<string[]> =>
  of.evaluate((element) => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode()
    const lines: string[] = []
    let top = -Infinity
    for (const [index, letter] of [...(text?.textContent ?? '')].entries()) {
      const range = document.createRange()
      range.setStart(text as Node, index)
      range.setEnd(text as Node, index + 1)
      const { y } = range.getBoundingClientRect()
      if (y > top + 4) lines.push('')
      top = y
      lines.push((lines.pop() ?? '') + letter)
    }
    return lines
  })

test('a long name breaks between its words, and anywhere only where it has none', async () => {
  const words = 'bao-cao-doanh-thu-cua-hang-quan-hoan-kiem-2026.csv'
  const one = `IMG_${'20261128'.repeat(8)}.jpg`
  for (const file of [words, one]) await writeFile(there(file), 'x')
  const { page } = await open('vi', phone)
  const named = (file: string) => page.getByText(file, { exact: true })
  await named(one).waitFor()
  const lines = await linesOf(named(words))
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.slice(0, -1).every((line) => line.endsWith('-'))).toBe(true)
  expect((await linesOf(named(one))).length).toBeGreaterThan(1)
  expect(await sideways(page)).toBe(0)
  await keepPicture(page, 'files-long-names')
  for (const file of [words, one]) await rm(there(file))
})

test('the keyboard stays in the folder that it opened', async () => {
  const { page } = await open('en')
  const step = page
    .getByRole('navigation', { name: 'Current folder' })
    .locator('[aria-current=page]')
  await page.getByRole('button', { name: 'wp-content', exact: true }).press('Enter')
  await focusOn(step.getByText('wp-content'))
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Up one folder' }).press('Enter')
  await focusOn(step.getByText('wordpress'))
})

test('what is typed into a dialog is not lost by one press beside it', async () => {
  await writeFile(there('notes.txt'), 'một')
  const { page, complaints } = await open('en')
  const dialog = page.getByRole('dialog')
  // Text is selected beyond the dialog's edge.
  await page.getByRole('button', { name: 'New folder' }).click()
  const name = dialog.getByLabel('Name')
  await name.fill('ảnh mới')
  const at = await name.boundingBox()
  await page.mouse.move((at?.x ?? 0) + 5, (at?.y ?? 0) + 5)
  await page.mouse.down()
  await page.mouse.move(5, 5)
  await page.mouse.up()
  expect(await name.inputValue()).toBe('ảnh mới')
  await page.mouse.click(5, 5)
  await dialog.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'notes.txt' }).first().click()
  const text = dialog.getByRole('textbox')
  await text.fill('hai')
  await page.mouse.click(5, 5)
  await text.focus()
  for (const leave of [
    () => page.keyboard.press('Escape'),
    () => dialog.getByRole('button', { name: 'Close', exact: true }).click(),
    () => dialog.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await leave()
    await dialog.getByRole('alert').getByText('Close without saving what you typed?').waitFor()
    await focusOn(dialog.getByRole('button', { name: 'Keep editing' }))
    await keepPicture(page, 'files-typed')
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.getByRole('alert').waitFor({ state: 'detached' })
  }
  // The button that opened the dialog has been replaced meanwhile.
  await focusOn(text)
  expect(await text.inputValue()).toBe('hai')
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await readFile(there('notes.txt'), 'utf8')).toBe('một')
  expect(complaints).toEqual([])
})

const isUpload = (url: URL) => url.pathname.endsWith('/files/content')
const file = (name: string) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.alloc(1_200_000, 7),
})

test('a file goes on up while its owner looks elsewhere, and says what failed', async () => {
  const { page } = await open('en')
  const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click()
  const choose = page.locator('input[type=file]')
  await page.getByRole('button', { name: 'wp-content', exact: true }).waitFor()
  let arrive = Promise.withResolvers<void>()
  let ends: 'continue' | 'abort' = 'continue'
  await page.route(isUpload, async (route) => {
    await arrive.promise
    await route[ends]()
  })
  await choose.setInputFiles([file('first.bin'), file('second.bin')])
  const uploads = page.getByRole('list', { name: 'Uploads' })
  await uploads.getByRole('progressbar').waitFor()
  await tab('General info')
  await uploads.waitFor({ state: 'detached' })

  // Closing the page asks first.
  const [question] = await Promise.all([
    page.waitForEvent('dialog'),
    page.close({ runBeforeUnload: true }),
  ])
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()

  await tab('Files')
  await uploads.getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: 'Stop uploading second.bin' }).click()
  arrive.resolve()
  await page.getByRole('list', { name: 'Files' }).getByText('first.bin').waitFor()
  expect(await uploads.count()).toBe(0)

  arrive = Promise.withResolvers()
  ends = 'abort'
  await choose.setInputFiles(file('third.bin'))
  await uploads.getByRole('progressbar').waitFor()
  await tab('General info')
  arrive.resolve()
  await page.getByText('third.bin: The portal cannot be reached.').waitFor()
  await tab('Files')
  await uploads.getByRole('alert').waitFor()
})

test.each([
  ['wide', 'light', 'vi'],
  ['wide', 'dark', 'en'],
  ['phone', 'light', 'en'],
  ['phone', 'dark', 'vi'],
] as const)('%s, %s, %s: accessible, within the screen', async (size, theme, language) => {
  const { page } = await open(language, size === 'wide' ? wide : phone, theme)
  await page.getByRole('button', { name: 'wp-content' }).first().waitFor()
  await keepPicture(page, `files-${size}-${theme}-${language}`)
  expect(await violations(page)).toEqual([])
  expect(await sideways(page)).toBe(0)
})

test('a key is added, seen, and taken away', async () => {
  const { page, complaints } = await open('en')
  await page.getByText('Fingerprint of the server').waitFor()
  await page.getByText('No key yet').waitFor()
  await page.getByRole('button', { name: 'Add key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Laptop of An')
  await dialog.getByLabel('Public key').fill('-----BEGIN OPENSSH PRIVATE KEY-----')
  await dialog.getByRole('button', { name: 'Add key' }).click()
  await dialog.getByText('This is a private key').waitFor()
  await keepPicture(page, 'sftp-fault')
  const key = ssh2.utils.generateKeyPairSync('ed25519').public
  await dialog.getByLabel('Public key').fill(`${key} an@laptop`)
  await dialog.getByRole('button', { name: 'Add key' }).click()
  await page.getByText('Laptop of An can open the files now.').waitFor()
  const keys = page.getByRole('list', { name: 'Keys that open these files' })
  await keys.getByText('ed25519 SHA256:').waitFor()
  expect(await violations(page)).toEqual([])
  for (const [language, viewport, theme, name] of [
    ['en', wide, 'light', 'sftp-en-light'],
    ['vi', wide, 'dark', 'sftp-vi-dark'],
    ['vi', phone, 'light', 'sftp-vi-phone'],
    ['en', phone, 'dark', 'sftp-en-phone-dark'],
  ] as const) {
    const look = await open(language, viewport, theme)
    await look.page.getByText('SHA256:').nth(1).waitFor()
    expect(await sideways(look.page)).toBe(0)
    expect(await violations(look.page)).toEqual([])
    await keepPicture(look.page, name)
  }
  await page.getByRole('button', { name: 'Remove Laptop of An' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No key yet').waitFor()
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
})

// Last, because it ends the session that the other tests use.
test('what goes up ends with the session', async () => {
  const { page } = await open('vi')
  await page.getByRole('button', { name: 'wp-content', exact: true }).waitFor()
  // Never answered.
  await page.route(isUpload, () => {})
  await page.locator('input[type=file]').setInputFiles(file('fourth.bin'))
  await page.getByRole('list', { name: 'Tệp đang tải lên' }).getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: /^Tài khoản/ }).click()
  await page.getByRole('menuitem', { name: 'Đăng xuất' }).click()
  await page.getByLabel('Email').fill(customer.email)
  await page.getByLabel('Mật khẩu', { exact: true }).fill(customer.password)
  await page.getByRole('button', { name: 'Đăng nhập', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Tổng quan' }).waitFor()
  await page.getByRole('link', { name }).first().click()
  await page.getByRole('tab', { name: 'Tệp', exact: true }).click()
  await page.getByRole('button', { name: 'wp-content', exact: true }).waitFor()
  expect(await page.getByRole('list', { name: 'Tệp đang tải lên' }).count()).toBe(0)
})

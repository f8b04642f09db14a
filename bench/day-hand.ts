/**
 * The hand of a member of the staff at the desk: it presses, types and reads in Chromium, and each
 * press and key is counted.
 */
import path from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import type { OperatorTexts } from '../web/i18n/en-operator.ts'
import type { DeskLanguage } from '../web/operator/language.ts'
import { settled } from '../test/e2e/browser.ts'

/** What one task took so far. */
export interface Tally {
  clicks: number
  /** Fields that were filled in or chosen from. */
  fields: number
  keys: number
  /** For pictures, which no operator takes. */
  pausedMs: number
}
export const newTally = (): Tally => ({ clicks: 0, fields: 0, keys: 0, pausedMs: 0 })

export interface Desk {
  readonly url: string
  readonly language: DeskLanguage
  readonly t: OperatorTexts
  /** Of the task that is under way. */
  tally: Tally
  /** Where pictures are kept; undefined: nowhere. */
  readonly shots: string | undefined
  pictures: number
}

/** A field by its label, and what is typed or chosen there. */
export type Entry = readonly [label: string, value: string]

export interface Hand {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page complained of. */
  readonly complaints: string[]
  /** The desk's start page, as it is when somebody begins something new. */
  atStart(): Promise<void>
  press(target: Locator): Promise<void>
  /** Key by key. */
  type(field: Locator, text: string): Promise<void>
  choose(field: Locator, label: string): Promise<void>
  /** A day or moment, in the browser's own field. */
  pick(field: Locator, value: string): Promise<void>
  /** Resolves when the text is there to be read. */
  sees(text: string | RegExp, withinMs?: number): Promise<void>
  /** To a page of the desk by the row at its top, and the row below it. */
  goTo(section: string, page?: string): Promise<void>
  /** Fills the open dialog in, and presses what does the act; the dialog is gone then. */
  fillIn(name: string, entries: readonly Entry[], picture?: string): Promise<void>
  /** Presses the button of an act, or its line in the menu, and fills its dialog in. */
  act(name: string, entries: readonly Entry[], picture?: string): Promise<void>
  /** Keeps pictures of the page as it is, light and dark. */
  look(name: string, page?: Page): Promise<void>
}

export function handOf(
  desk: Desk,
  { context, page, complaints }: Pick<Hand, 'context' | 'page' | 'complaints'>,
): Hand {
  const { t } = desk
  const dialog = page.getByRole('dialog')
  const count = (what: 'clicks' | 'fields' | 'keys', n = 1): void => {
    desk.tally[what] += n
  }
  const hand: Hand = {
    context,
    page,
    complaints,
    async atStart() {
      await page.goto(`${desk.url}/operator`)
      await settled(page)
    },
    async press(target) {
      await target.click()
      count('clicks')
    },
    async type(field, text) {
      await field.fill('')
      await field.pressSequentially(text)
      count('fields')
      count('keys', text.length)
    },
    async choose(field, label) {
      // What follows the name of an option changes with the day: how much room a node has.
      const labels = await field.locator('option').allTextContents()
      const full = labels.find((one) => one === label || one.startsWith(`${label} · `))
      await field.selectOption({ label: full ?? label })
      count('fields')
    },
    async pick(field, value) {
      await field.fill(value)
      count('fields')
      count('keys', value.length)
    },
    sees: (text, withinMs) =>
      page
        .getByText(text)
        .filter({ visible: true })
        .first()
        .waitFor({ ...(withinMs !== undefined && { timeout: withinMs }) }),
    async goTo(section, below) {
      const top = page.getByRole('navigation', { name: t.nav.label })
      await hand.press(top.getByRole('link', { name: section }))
      await settled(page)
      if (below === undefined) return
      const rows = page.getByRole('main').getByRole('navigation')
      await hand.press(rows.getByRole('link', { name: below, exact: true }))
      await settled(page)
    },
    async fillIn(name, entries, picture) {
      for (const [label, value] of entries) {
        const field = dialog.getByLabel(label, { exact: true })
        const kind = await field.evaluate((element) =>
          element instanceof HTMLInputElement ? element.type : element.tagName,
        )
        if (kind === 'SELECT') await hand.choose(field, value)
        else if (kind === 'date' || kind === 'datetime-local') await hand.pick(field, value)
        else await hand.type(field, value)
      }
      if (picture !== undefined) await hand.look(picture)
      await hand.press(dialog.getByRole('button', { name, exact: true }))
      await dialog.waitFor({ state: 'detached' })
      await settled(page)
    },
    async act(name, entries, picture) {
      const button = page.getByRole('button', { name, exact: true }).first()
      if ((await button.count()) > 0) await hand.press(button)
      else {
        await hand.press(page.getByRole('button', { name: t.customer.moreActs }))
        await hand.press(page.getByRole('menuitem', { name, exact: true }))
      }
      await hand.fillIn(name, entries, picture)
    },
    async look(name, of = page) {
      if (desk.shots === undefined) return
      const began = performance.now()
      await settled(of)
      desk.pictures += 1
      // A dialog stands over what is seen of the page, not over all of it.
      const isOpen = (await of.locator('dialog[open]').count()) > 0
      for (const theme of ['light', 'dark'] as const) {
        await of.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
        const number = String(desk.pictures).padStart(3, '0')
        const file = `${number}-${name}-${desk.language}-${theme}.png`
        if (!isOpen) await of.evaluate(() => window.scrollTo(0, 0))
        await of.screenshot({ path: path.join(desk.shots, file), fullPage: !isOpen })
      }
      await of.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      desk.tally.pausedMs += performance.now() - began
    },
  }
  return hand
}

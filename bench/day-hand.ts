/**
 * A staff member's hand at the desk: it presses, types and reads in Chromium, and each press and
 * key is counted.
 */
import path from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import type { OperatorTexts } from '../web/i18n/en-operator.ts'
import type { DeskLanguage } from '../web/operator/language.ts'
import { settled } from '../test/e2e/browser.ts'

/** The counts of one task so far. */
export interface Tally {
  clicks: number
  /** Number of fields that were filled in or chosen from. */
  fields: number
  keys: number
  /** Time spent on pictures, which no operator takes, ms. */
  pausedMs: number
}
export const newTally = (): Tally => ({ clicks: 0, fields: 0, keys: 0, pausedMs: 0 })

export interface Desk {
  readonly url: string
  readonly language: DeskLanguage
  readonly t: OperatorTexts
  /** The counts of the present task. */
  tally: Tally
  /** Where pictures are saved; undefined: nowhere. */
  readonly shots: string | undefined
  pictures: number
}

/** A field by its label, and the value to type or choose. */
export type Entry = readonly [label: string, value: string]

export interface Hand {
  readonly context: BrowserContext
  readonly page: Page
  /** Problems that the page reported. */
  readonly complaints: string[]
  /** Opens the desk's start page, where each task begins. */
  atStart(): Promise<void>
  press(target: Locator): Promise<void>
  /** Types key by key. */
  type(field: Locator, text: string): Promise<void>
  choose(field: Locator, label: string): Promise<void>
  /** Picks a day or time in the browser's own field. */
  pick(field: Locator, value: string): Promise<void>
  /** Resolves when the text is visible. */
  sees(text: string | RegExp, withinMs?: number): Promise<void>
  /** Navigates to a page of the desk by the menu at its top, and the tabs below it. */
  goTo(section: string, page?: string): Promise<void>
  /**
   * Fills in the open dialog, and presses the button of the act; resolves when the dialog has
   * closed.
   */
  fillIn(name: string, entries: readonly Entry[], picture?: string): Promise<void>
  /** Presses the button of an act, or its line in the menu, and fills its dialog in. */
  act(name: string, entries: readonly Entry[], picture?: string): Promise<void>
  /** Saves pictures of the present page, light and dark. */
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
      // The text after an option's name changes during the day, such as the room of a node.
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
      // A dialog covers only the visible part of the page, so the picture is not of the full page.
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

/**
 * A person without a mouse: every step is a key, every focus is looked for, and all of it is
 * written down.
 */
import type { Locator, Page } from 'playwright-core'

/** More stops than any screen of ours has. */
const mostStops = 80

const isFocused = (of: Locator) => of.evaluate((element) => element === document.activeElement)

/** How the control and what is around it are drawn. */
const looks = (of: Locator) =>
  of.evaluate((element) => {
    const drawn: string[] = []
    let at: Element | null = element
    for (let up = 0; at !== null && up < 4; up += 1, at = at.parentElement) {
      const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor } =
        getComputedStyle(at)
      drawn.push(
        [outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor].join(
          ' ',
        ),
      )
    }
    return drawn.join('\n')
  })

export class Keyboard {
  /** What was done, a line a step. */
  readonly steps: string[] = []
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  #note(step: string) {
    this.steps.push(step)
  }

  async #nameOf(of: Locator): Promise<string> {
    const snapshot = await of.ariaSnapshot()
    return snapshot.split('\n')[0]?.replace(/^- /, '').replace(/:$/, '') ?? ''
  }

  /**
   * Presses a key until the control has the focus; fails where it is never reached, or where
   * nothing shows that it is there.
   */
  async #reach(of: Locator, key: string): Promise<void> {
    await of.waitFor({ state: 'attached' })
    let before = ''
    for (let presses = 0; presses <= mostStops; presses += 1) {
      if (await isFocused(of)) {
        const name = await this.#nameOf(of)
        // Colours that fade in have arrived.
        await of.evaluate(
          async () =>
            await Promise.allSettled(
              document
                .getAnimations()
                // One that goes with the scrolling has no end of its own.
                .filter(({ timeline }) => timeline === document.timeline)
                .map(async ({ finished }) => await finished),
            ),
        )
        if (presses > 0 && (await looks(of)) === before)
          throw new Error(`nothing shows that ${name} has the focus`)
        this.#note(
          presses === 0 ? `the focus is on ${name} already` : `${key} × ${presses} → ${name}`,
        )
        return
      }
      before = await looks(of)
      await this.#page.keyboard.press(key)
    }
    throw new Error(`${key} never leads to ${await this.#nameOf(of)}`)
  }

  forward = (to: Locator): Promise<void> => this.#reach(to, 'Tab')
  back = (to: Locator): Promise<void> => this.#reach(to, 'Shift+Tab')
  /** Within a group of radio buttons or a menu. */
  down = (to: Locator): Promise<void> => this.#reach(to, 'ArrowDown')

  async press(key: 'Enter' | 'Space' | 'Escape'): Promise<void> {
    await this.#page.keyboard.press(key)
    this.#note(key)
  }

  /** `secret`: not written down. */
  async type(text: string, secret = false): Promise<void> {
    await this.#page.keyboard.type(text)
    this.#note(secret ? 'types it' : `types "${text}"`)
  }

  async fill(field: Locator, text: string, secret = false): Promise<void> {
    await this.forward(field)
    await this.type(text, secret)
  }

  async go(to: Locator): Promise<void> {
    await this.forward(to)
    await this.press('Enter')
  }

  /** A new screen is there when its heading has the focus. */
  async arrivesAt(heading: string, withinMs = 20_000): Promise<void> {
    const at = this.#page.getByRole('heading', { level: 1, name: heading })
    await at.waitFor({ timeout: withinMs })
    await this.#page.waitForFunction(
      (text) =>
        document.activeElement?.tagName === 'H1' && document.activeElement.textContent === text,
      heading,
    )
    this.#note(
      `arrives at "${heading}" (` +
        `${new URL(this.#page.url()).pathname.replace(/[0-9a-f-]{36}/, '{id}')}), the focus on ` +
        'its heading',
    )
  }
}

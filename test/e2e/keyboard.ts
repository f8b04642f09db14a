/**
 * A user without a mouse: every step is a key, every focus is checked, and everything is recorded.
 */
import type { Locator, Page } from 'playwright-core'

/** More tab stops than any of our screens has. */
const mostStops = 80

const isFocused = (of: Locator) => of.evaluate((element) => element === document.activeElement)

/** The styles of the control and its surroundings. */
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
  /** The steps, one per line. */
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
   * Presses a key until the control has the focus; fails if it is never reached, or if the focus is
   * not visible.
   */
  async #reach(of: Locator, key: string): Promise<void> {
    await of.waitFor({ state: 'attached' })
    let before = ''
    for (let presses = 0; presses <= mostStops; presses += 1) {
      if (await isFocused(of)) {
        const name = await this.#nameOf(of)
        // Waits for the end of colour transitions.
        await of.evaluate(
          async () =>
            await Promise.allSettled(
              document
                .getAnimations()
                // An animation driven by scrolling never finishes.
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

  /** `secret`: the text is not recorded. */
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

  /** Waits for a new screen: its heading has the focus. */
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

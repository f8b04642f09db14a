/** A member of the staff at the desk, in a tab that has opened nothing yet. */
import type { Browser, Page } from 'playwright-core'
import type { TestPortal } from '../portal.ts'
import type { TestMember } from '../staff.ts'
import { visitAs, wide, type Look, type Visit } from './browser.ts'

export async function visitDesk(
  browser: Browser,
  portal: Pick<TestPortal, 'url'>,
  member: Pick<TestMember, 'headers'>,
  look: Look = {},
): Promise<Visit> {
  const one = await visitAs(browser, { language: 'en', viewport: wide, ...look })
  const [name = '', value = ''] = (member.headers['cookie'] ?? '').split('=')
  await one.context.addCookies([
    { name, value, url: `${portal.url}/api/operator`, httpOnly: true, sameSite: 'Strict' },
  ])
  return one
}

/** Asks for an act on a customer's page: two are buttons, the others are in a menu. */
export async function pressAct(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name, exact: true })
  const more = page.getByRole('button', { name: /^(?:More actions|Thao tác khác)$/ })
  await button.or(more).first().waitFor()
  if ((await button.count()) > 0) return button.first().click()
  await more.click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

/** A staff member at the desk, in a tab that has opened nothing yet. */
import type { Browser } from 'playwright-core'
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

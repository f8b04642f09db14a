/** Visits to a site before and after an update: its pages, and its owner's way to wp-admin. */
import type { PageDifference } from '../../contract/wordpress-updates.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { WordpressDriver } from './driver.ts'
import { differenceOf, pagesOf, shapeOf, steadyShape, type PageShape } from './page-shapes.ts'

export const pagesCompared = 10
/** How often a page is asked for while its container is being replaced. */
const tries = 3

/** A site that is visited. */
export interface Visited {
  readonly id: string
  readonly url: string
  readonly adminUser: string
}

export interface LookBefore {
  readonly pages: readonly PageShape[]
  /** Whether signing in by a link leads to wp-admin. */
  readonly adminWorks: boolean
}

export function createVisitor(driver: WordpressDriver) {
  async function shape(id: string, path: string): Promise<PageShape> {
    for (let left = tries; ; left--)
      try {
        const answer = await driver.page(id, { target: path, cookie: '' })
        // A redirection has no text: its target is compared.
        return shapeOf(path, { ...answer, text: answer.text || (answer.location ?? '') })
      } catch (error) {
        if (!(error instanceof DriverFailure) || left <= 1) throw error
      }
  }

  /** Signs in by a link, as the owner's button does. */
  async function adminWorks({ id, adminUser, url }: Visited): Promise<boolean> {
    try {
      const link = new URL(await driver.adminLink(id, adminUser))
      const entered = await driver.page(id, { target: link.pathname, cookie: '' })
      if (entered.status !== 302 || entered.location === null) return false
      const to = new URL(entered.location, url)
      const inside = await driver.page(id, {
        target: to.pathname + to.search,
        cookie: entered.cookie,
      })
      return inside.status === 200
    } catch (error) {
      if (error instanceof DriverFailure) return false
      throw error
    }
  }

  return {
    /**
     * Visits each page twice: what differs between the two visits changes by itself.
     * @param paths the pages to visit, if an earlier look has chosen them
     */
    async lookBefore(site: Visited, paths?: readonly string[]): Promise<LookBefore> {
      const choose = async (): Promise<readonly string[]> => {
        const front = await driver.page(site.id, { target: '/', cookie: '' })
        return pagesOf(front.text, site.url, pagesCompared)
      }
      const pages: PageShape[] = []
      for (const path of paths ?? (await choose())) {
        const first = await shape(site.id, path)
        pages.push(steadyShape(first, await shape(site.id, path)))
      }
      return { pages, adminWorks: await adminWorks(site) }
    },

    /** The differences that a visitor, or the owner, would notice. */
    async lookAfter(site: Visited, before: LookBefore): Promise<PageDifference[]> {
      const differences: PageDifference[] = []
      // The first visit lets plugins upgrade their own tables.
      await driver.page(site.id, { target: '/', cookie: '' }).catch(() => undefined)
      for (const page of before.pages)
        try {
          const difference = differenceOf(page, await shape(site.id, page.path))
          if (difference) differences.push(difference)
        } catch (error) {
          if (!(error instanceof DriverFailure)) throw error
          differences.push({
            path: page.path,
            what: 'unreachable',
            before: String(page.status),
            after: '',
          })
        }
      if (before.adminWorks && !(await adminWorks(site)))
        differences.push({ path: 'admin', what: 'sign_in', before: '', after: '' })
      return differences
    },
  }
}

/** Visits to a site before and after an update: its pages, and its owner's way to wp-admin. */
import type { PageDifference } from '../../contract/wordpress-updates.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { WordpressDriver } from './driver.ts'
import { differenceOf, pagesOf, shapeOf, steadyShape, type PageShape } from './page-shapes.ts'

export const pagesCompared = 10
/** A container that is being replaced is asked again, so often. */
const tries = 3

/** A site, for visits. */
export interface Visited {
  readonly id: string
  readonly url: string
  readonly adminUser: string
}

export interface LookBefore {
  readonly pages: readonly PageShape[]
  /** Whether signing in to wp-admin leads there. */
  readonly adminWorks: boolean
}

export function createVisitor(driver: WordpressDriver) {
  async function shape(id: string, path: string): Promise<PageShape> {
    for (let left = tries; ; left--)
      try {
        const answer = await driver.page(id, { target: path, cookie: '' })
        // A redirection says where it leads, and has no text.
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
     * Each page is visited twice: what differs then, differs by itself.
     * @param paths which pages, as an earlier look chose them
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

    /** What a visitor, or the owner, would notice. */
    async lookAfter(site: Visited, before: LookBefore): Promise<PageDifference[]> {
      const differences: PageDifference[] = []
      // The first visit has plugins bring their own tables up to date.
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

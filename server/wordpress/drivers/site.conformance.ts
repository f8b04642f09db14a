/**
 * The parts of the drivers' test suite: a driver under test, a visitor at a site, and the site that
 * most tests use.
 */
import http from 'node:http'
import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import type { SiteAddress, SiteAdmin, SiteSpec, WordpressDriver } from '../driver.ts'

/** A driver under test, and what only its own test can do from outside. */
export interface Fixture {
  readonly driver: WordpressDriver
  /** A little less than the size of WordPress alone: no site is smaller. */
  readonly wordpress: { readonly mb: number; readonly files: number }
  /** Ends the process that runs the sites, as a signal would. May be called twice. */
  close(): Promise<void>
  /** Puts a file into the site's WordPress folder. */
  put(id: string, file: string, text: string): Promise<void>
  /** Makes a zip of these files, as wordpress.org hands them out; answers its path. */
  zip(files: Readonly<Record<string, string>>): Promise<string>
  /** Kills a container as an accident would, without asking the driver. */
  kill(id: string, container: string): Promise<void>
  /**
   * Names of everything that exists for the site outside the driver: folders, processes, volumes.
   */
  traces(id: string): Promise<readonly string[]>
  dispose(): Promise<void>
}

interface Page {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** One request straight to a container, with the Host that browsers send. */
export function ask(
  to: SiteAddress,
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Page> {
  const { host, pathname, search } = new URL(url)
  // With a body as the edge sends it: on a connection that is kept, a container reads what it has
  // refused to its end, and the sender gets the answer instead of a reset.
  const agent = options.body === undefined ? false : new http.Agent({ keepAlive: true })
  return new Promise<Page>((resolve, reject) => {
    const request = http.request(
      {
        host: to.host,
        port: to.port,
        path: pathname + search,
        method: options.method ?? 'GET',
        headers: { host, ...options.headers },
        agent,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    request.setTimeout(110_000, () => request.destroy(new Error(`no answer from ${url}`)))
    request.on('error', reject)
    request.end(options.body)
  }).finally(() => agent && agent.destroy())
}

/** Writes straight to a container, which takes them or has them wait. */
export function writesTo(at: SiteAddress, url: string) {
  const write = () => ask(at, `${url}/wp-comments-post.php`, { method: 'POST' })
  return {
    /** Resolves once a write is answered, however slow the machine is. */
    isTaken: async (): Promise<void> => void (await write()),
    /** Whether a write is still unanswered when three later reads are answered. */
    async waits(): Promise<boolean> {
      let isAnswered = false
      // A container that ends meanwhile answers none of the writes that wait.
      void write().then(
        () => (isAnswered = true),
        () => {},
      )
      for (let read = 0; read < 3; read++) await ask(at, `${url}/`)
      return !isAnswered
    },
  }
}

/**
 * The pause between two visits of a continuous visitor: ten a second find any gap, and leave the
 * processor to the container that is being started.
 */
export const betweenVisits = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 75))

/** Waits until `condition` holds; if it never does, its last failure is the reason. */
export const eventually = (
  condition: () => Promise<void> | void,
  withinMs = 30_000,
): Promise<void> => vi.waitFor(condition, { timeout: withinMs, interval: 50 })

export const specOf = (changes: Partial<SiteSpec> = {}): SiteSpec => {
  const id = changes.id ?? randomUUID()
  return {
    id,
    url: `http://${id.slice(0, 8)}.localhost:8082`,
    hosts: [],
    title: 'Cửa hàng "Mây" & Gió',
    language: 'vi',
    cpu: 1,
    ramMb: 640,
    diskMb: 10_240,
    databaseDiskMb: 10_240,
    containers: 1,
    generation: 0,
    ...changes,
  }
}

/** Signs in by the login form. Answers the session's cookies, or null when WordPress refuses. */
export async function signIn(
  to: SiteAddress,
  url: string,
  user: string,
  password: string,
): Promise<string | null> {
  const answer = await ask(to, `${url}/wp-login.php`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
    },
    body: new URLSearchParams({ log: user, pwd: password, testcookie: '1' }).toString(),
  })
  if (answer.status !== 302) return null
  return (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
}

/** Titles of posts in an answer of the REST API. */
export const titlesOf = (posts: string): readonly string[] =>
  (JSON.parse(posts) as { title: { rendered: string } }[]).map((post) => post.title.rendered)

export type Site = ReturnType<typeof siteOf>

/** The site that the suite uses, and acts on it; the fixture exists from the first test on. */
export function siteOf(made: () => Fixture) {
  const admin: SiteAdmin = {
    user: 'chu.boss',
    password: 'Mật khẩu#1 "x"',
    email: 'boss@example.com',
  }
  const spec = specOf()
  const first = async (): Promise<SiteAddress> => {
    const [address] = await made().driver.addresses(spec.id)
    expect(address, 'an address').toBeDefined()
    return address!
  }
  const page = async (target: string) => ask(await first(), spec.url + target)
  const session = async (): Promise<Record<string, string>> => {
    const cookie = (await signIn(await first(), spec.url, admin.user, admin.password)) ?? ''
    const nonce = (
      await ask(await first(), `${spec.url}/wp-admin/admin-ajax.php?action=rest-nonce`, {
        headers: { cookie },
      })
    ).text
    return { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' }
  }
  const write = (title: string, to: SiteAddress, headers: Record<string, string>): Promise<Page> =>
    ask(to, `${spec.url}/wp-json/wp/v2/posts`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ title, content: 'Xin chào', status: 'publish' }),
    })
  const titles = async (): Promise<readonly string[]> =>
    titlesOf((await page('/wp-json/wp/v2/posts?per_page=100')).text)

  return { made, admin, spec, first, page, session, write, titles }
}

/** Checks of a page or an act of a plugin: what the visitor sees, the database, the cache. */
import type { Answer, Browser, Row, World } from '../test/page-cache-world.ts'

/** The result of an act: the status, and the edge's cache result; '' if there is none. */
export interface Outcome {
  readonly status: number
  readonly cache: string
}
export interface Act {
  readonly name: string
  run(site: JudgedSite): Promise<Outcome>
  /** Why this runtime cannot do it, if known. */
  readonly because?: string
  /** Why sites in containers cannot do it, if known. */
  readonly inContainers?: string
}
export interface PluginUnderTest {
  readonly folder: string
  /** The real plugin whose calls the stand-in makes. */
  readonly like: string
  readonly kind: 'plugin' | 'theme'
  readonly acts: readonly Act[]
}

/** A plugin's answer; fields are read as text. */
export interface Json {
  readonly [name: string]: Json | undefined
}
/** The answer as a list. */
export const listOf = (data: Json | undefined): readonly Json[] =>
  Object.values(data ?? {}) as Json[]
/** A text unchanged; any other value as JSON. */
export function textOf(data: Json | undefined): string {
  const value: unknown = data
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
/** A list of texts or numbers, joined into one text. */
export const joined = (data: Json | undefined): string => listOf(data).map(textOf).join()

/** Throws `otherwise` if the condition does not hold. */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise)
}
const cacheOf = ({ headers }: Answer): string => String(headers['x-cache'] ?? '')
export const outcomeOf = (answer: Answer): Outcome => ({
  status: answer.status,
  cache: cacheOf(answer),
})
/** Removes parts that differ between two renderings of a page. */
const plain = (text: string): string =>
  text
    .replaceAll(
      /[\d.]+ms (?:meta|boot)|<!-- Kept by .*?-->|<lastBuildDate>.*?<\/lastBuildDate>/g,
      '',
    )
    .trim()

/** A site with plugins, with the checks on it. */
export class JudgedSite {
  readonly world: World
  constructor(world: World) {
    this.world = world
  }

  /** Rows of the database. */
  rows(sql: string): Promise<Row[]> {
    return this.world.rows(sql)
  }
  /** The first value of the first row. */
  async value(sql: string): Promise<unknown> {
    return Object.values((await this.rows(sql))[0] ?? {})[0] ?? null
  }
  /** The id of a post with this name. */
  async post(name: string): Promise<number> {
    return Number(await this.value(`select ID from wp_posts where post_name = '${name}'`))
  }

  /**
   * A page that visitors share: it is kept from the second or a later visit on, and equals the page
   * made now.
   */
  async kept(target: string, ...texts: readonly string[]): Promise<Outcome> {
    let answer = await this.world.visitor().ask(target)
    // A page may write something at its first visit, such as a rule or a transient. The edge
    // remembers for half a minute that a page was not kept.
    const until = performance.now() + 40_000
    for (let visit = 1; cacheOf(answer) !== 'HIT' && performance.now() < until; visit++) {
      if (visit > 3) await new Promise((resolve) => setTimeout(resolve, 1_000))
      answer = await this.world.visitor().ask(target)
    }
    this.#shows(answer, 200, texts)
    must(cacheOf(answer) === 'HIT', `it is not kept (${cacheOf(answer)})`)
    const [now = ''] = await this.world.uncached(target)
    must(plain(answer.text) === plain(now), 'what is kept is not what is made now')
    return outcomeOf(answer)
  }
  /** A page that no two visitors share: it is made for every visit. */
  async never(target: string, browser: Browser, ...texts: readonly string[]): Promise<Outcome> {
    await browser.ask(target)
    const answer = await browser.ask(target)
    this.#shows(answer, 200, texts)
    must(cacheOf(answer) !== 'HIT', 'it is kept, and must not be')
    return outcomeOf(answer)
  }
  /** A page as a visitor gets it now, kept or not. */
  async shows(target: string, ...texts: readonly string[]): Promise<Outcome> {
    const answer = await this.world.visitor().ask(target)
    this.#shows(answer, 200, texts)
    return outcomeOf(answer)
  }
  #shows(answer: Answer, status: number, texts: readonly string[]): void {
    must(answer.status === status, `it answers ${answer.status}: ${answer.text.slice(0, 200)}`)
    for (const text of texts) must(answer.text.includes(text), `“${text}” is not there`)
  }

  /** A REST call of the administrator; `want`: what the answer must satisfy. */
  async rest(
    method: string,
    route: string,
    body: object | undefined,
    want: (data: Json) => boolean = () => true,
  ): Promise<Outcome & { data: Json }> {
    const { status, data } = await this.world.rest(method, route, body)
    const told = JSON.stringify(data)?.slice(0, 300)
    must(status < 300, `${route} answers ${status}: ${told}`)
    must(want(data as Json), `${route} answers ${told}`)
    return { status, cache: '', data: data as Json }
  }
  /** Sends a form, or JSON, as any visitor. */
  async send(
    browser: Browser,
    target: string,
    body: Record<string, string> | object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isJson = headers['content-type'] === 'application/json'
    return await browser.ask(target, {
      method: 'POST',
      headers,
      body: isJson
        ? JSON.stringify(body)
        : new URLSearchParams(body as Record<string, string>).toString(),
    })
  }

  /** The letters that the site has sent since the last call. */
  async letters(): Promise<{ to: readonly string[]; text: string }[]> {
    const { driver, spec } = this.world
    const found = await driver.takeMail(spec.id, 20)
    await driver.mailTaken(
      spec.id,
      found.map(({ key }) => key),
    )
    return found.map(({ to, raw }) => ({ to, text: Buffer.from(raw).toString('utf8') }))
  }
  /** Makes WordPress run its due jobs. */
  async jobs(): Promise<void> {
    await this.world.visitor().ask('/wp-cron.php?doing_wp_cron')
  }

  /** Follows a link of wp-admin as the administrator. */
  async press(screen: string, ...words: readonly string[]): Promise<Answer> {
    const { text } = await this.world.admin.ask(`/wp-admin/${screen}`)
    const links = text.replaceAll('\\/', '/').replaceAll(/&amp;|&#038;|\\u0026/g, '&')
    const found = [...links.matchAll(/["'](?:[^"'\s]*\/wp-admin\/)?([\w-]+\.php\?[^"'<> ]+)/g)]
      .map(([, link = '']) => link)
      .find((link) => words.every((word) => link.includes(word)))
    must(found !== undefined, `${screen} has no link with ${words.join(', ')}`)
    return await this.world.admin.ask(`/wp-admin/${found}`)
  }
  /**
   * Activates or deactivates a plugin, or activates a theme, in wp-admin; PHP's messages go to the
   * log.
   */
  async put(kind: 'plugin' | 'theme', folder: string, isOn: boolean): Promise<void> {
    const word = isOn ? 'action=activate' : 'action=deactivate'
    const answer =
      kind === 'theme'
        ? await this.press('themes.php', 'action=activate', `stylesheet=${folder}&`)
        : await this.press('plugins.php', word, `plugin=${folder}%2F`)
    must(answer.status === 302, `wp-admin answers ${answer.status}`)
    must(!String(answer.headers.location).includes('error'), 'wp-admin says that it fails')
    // Many plugins show a page of their own once, whatever is requested next.
    for (let visit = 0; visit < 3; visit++) await this.world.admin.ask('/wp-admin/plugins.php')
  }
}

/**
 * Makes a container do what no visitor may ask for (runtimes/wordpress-wasm, acts.js), and fetches
 * pages from it as a visitor would. The customer's code runs in it: its answers are validated.
 */
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import * as z from 'zod'
import { DriverFailure } from '../../../platform/errors.ts'
import type { InstalledSoftware, PageAnswer, PageQuestion, SiteAddress } from '../../driver.ts'

const longestMs = 90_000
const mostBytes = 262_144
const mostPageBytes = 1_048_576
/** Longest time of a page. */
const longestPageMs = 45_000

/** A request of the portal to a container. */
export interface Question {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** A longer answer is an error, or is cut where `cut` is set. */
  readonly mostBytes: number
  readonly cut: boolean
}

/** Rejects where no complete answer comes. */
export function ask(
  at: SiteAddress,
  of: Question,
): Promise<{ answer: IncomingMessage; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: at.host, port: at.port, path: of.path, headers: of.headers, agent: false },
      (answer) => {
        const chunks: Buffer[] = []
        let bytes = 0
        const done = (): void => {
          clearTimeout(timer)
          resolve({ answer, text: Buffer.concat(chunks).toString('utf8') })
        }
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes <= of.mostBytes) chunks.push(chunk)
          else if (of.cut) {
            done()
            call.destroy()
          } else call.destroy(new Error('answers too much'))
        })
        answer.on('error', reject)
        answer.on('end', done)
      },
    )
    // The limit is for the whole answer: a site may send one byte a second.
    const timer = setTimeout(
      () => call.destroy(new Error(`does not answer in ${of.timeoutMs / 1000} s`)),
      of.timeoutMs,
    )
    call.on('close', () => clearTimeout(timer))
    call.on('error', reject)
    call.end()
  })
}

/** Longest time of one step; the request around it may wait for its turn. */
export const stepMs = 5_000

export interface ContainerAnswer {
  readonly status: number
  readonly location: string | null
  readonly text: string
}

/**
 * A container's answer to a GET. Rejects when it takes too long, and, unless `cuts` is set, when it
 * is longer than a quarter of a megabyte.
 */
export async function askContainer(
  at: SiteAddress,
  path: string,
  headers: Readonly<Record<string, string>>,
  { cuts = false } = {},
): Promise<ContainerAnswer> {
  const said = await ask(at, { path, headers, timeoutMs: longestMs, mostBytes, cut: cuts })
  return {
    status: said.answer.statusCode ?? 0,
    location: said.answer.headers.location ?? null,
    text: said.text,
  }
}

/** The text of one step. Rejects with DriverFailure unavailable where there is none. */
export async function actAt(at: SiteAddress, ticket: string, host: string): Promise<string> {
  try {
    const { status, text: said } = await askContainer(at, `/portal-act/${ticket}`, { host })
    if (status !== 200) throw new Error(`answers with status ${status}`)
    return said
  } catch (error) {
    throw new DriverFailure('unavailable', `the container ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/**
 * The answer to an act, validated by its schema. Rejects with DriverFailure unavailable where the
 * container gives no valid answer.
 */
export async function answerOfAct<T>(
  at: SiteAddress,
  ticket: string,
  host: string,
  schema: z.ZodType<T>,
): Promise<T> {
  const said = await actAt(at, ticket, host)
  let value: unknown
  try {
    value = JSON.parse(said)
  } catch {
    // The schema rejects it below.
  }
  const { data } = schema.safeParse(value)
  if (data === undefined) throw new DriverFailure('unavailable', 'the site answers something else')
  return data
}

const text = (most: number) => z.string().max(most)
/** Names end up as names of folders: entries with another shape are left out. */
const pluginFile = /^(?!\.)[\w. -]{1,120}(?:\/(?!\.)[\w. -]{1,120})?\.php$/
const themeSlug = /^(?!\.)[\w. -]{1,120}$/

const described = {
  name: text(200),
  version: text(60),
  active: z.boolean(),
  updateUri: text(300),
}
export const softwareShape: z.ZodType<InstalledSoftware> = z
  .object({
    wordpress: text(60),
    php: text(60),
    plugins: z.array(z.object({ file: text(250), ...described })).max(300),
    themes: z.array(z.object({ slug: text(130), ...described })).max(100),
  })
  .transform((found) => ({
    ...found,
    plugins: found.plugins.filter(({ file }) => pluginFile.test(file)),
    themes: found.themes.filter(({ slug }) => themeSlug.test(slug)),
  }))

const version = z.int().nonnegative()
export const upgradeShape = z.object({ before: version, after: version, files: version })

/**
 * A page as a visitor gets it, but not from the edge's cache. DriverFailure where no page comes.
 */
export async function pageOf(
  at: SiteAddress,
  host: string,
  { target, cookie }: PageQuestion,
): Promise<PageAnswer> {
  try {
    const { answer, text: page } = await ask(at, {
      path: target,
      headers: { host, accept: 'text/html', ...(cookie !== '' && { cookie }) },
      timeoutMs: longestPageMs,
      mostBytes: mostPageBytes,
      cut: true,
    })
    return {
      status: answer.statusCode ?? 0,
      type: (answer.headers['content-type'] ?? '').slice(0, 200),
      location: answer.headers.location?.slice(0, 2_000) ?? null,
      cookie: (answer.headers['set-cookie'] ?? [])
        .map((one) => one.split(';', 1)[0] ?? '')
        .join('; ')
        .slice(0, 8_000),
      text: page,
    }
  } catch (error) {
    throw new DriverFailure('unavailable', `the page ${(error as Error).message}`, { cause: error })
  }
}

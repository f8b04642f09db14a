/**
 * Asks the directory of WordPress (api.wordpress.org, or one that speaks its protocol) for
 * releases. The directory is told names and versions, and never which site asks. Its answers are
 * validated: it may be down, late, or lie.
 *
 * Protocol: core/version-check/1.7, plugins/update-check/1.1, themes/update-check/1.1, as
 * WordPress's own wp-includes/update.php calls them.
 */
import * as z from 'zod'
import { DriverFailure } from '../platform/errors.ts'
import { callHttp, jsonOf } from '../platform/http-client.ts'
import type { SoftwarePackage } from './driver.ts'

const peer = 'the directory of WordPress'
const timeoutMs = 20_000
const maxBytes = 8 * 1_048_576

export interface Release extends SoftwarePackage {
  readonly name: string
  /** The directory says that the release mends a security fault. */
  readonly security: boolean
  /** Address of the release's zip. */
  readonly package: string
  readonly requiresPhp: string | null
  readonly requiresWordpress: string | null
}

/** Installed software, without the sites that have it. */
export interface Question {
  readonly core: readonly { readonly version: string; readonly php: string }[]
  readonly plugins: readonly {
    readonly main: string
    readonly name: string
    readonly version: string
  }[]
  readonly themes: readonly {
    readonly slug: string
    readonly name: string
    readonly version: string
  }[]
}

export interface UpdateDirectory {
  /**
   * The releases of the given software. DriverFailure where the directory does not answer properly.
   */
  releases(question: Question): Promise<Release[]>
  /** Whether the address is one of the directory's package host. */
  handsOut(address: string): boolean
}

const version = z.string().regex(/^[\w.+ -]{1,60}$/)
const address = z.string().max(500)
/** Requirements may be missing, `false`, or a number. */
const requirement = z
  .union([z.string().max(60), z.number(), z.boolean(), z.null()])
  .optional()
  .transform((value) => (typeof value === 'string' && value !== '' ? value : null))
/** `true`, 1 or "1": sites are to install the release by themselves. */
const flag = z
  .union([z.boolean(), z.number(), z.string(), z.null()])
  .optional()
  .transform((value) => value === true || value === 1 || value === '1' || value === 'true')
const slug = z.string().regex(/^(?!\.)[\w.-]{1,120}$/)

const coreShape = z.object({
  offers: z
    .array(
      z.object({
        response: z.string().max(40),
        version,
        packages: z.object({ full: address, no_content: z.unknown() }),
        php_version: requirement,
      }),
    )
    .max(100),
})
const offered = z.object({
  new_version: version,
  package: address,
  requires: requirement,
  requires_php: requirement,
  autoupdate: flag,
})
const pluginOffer = offered.extend({ slug })

/** PHP encodes an empty object as a list. */
const byName = <T>(one: z.ZodType<T>) =>
  z.preprocess(
    (value) => (Array.isArray(value) ? {} : value),
    z.record(z.string().max(250), z.unknown()).transform((all) =>
      // An invalid entry is left out; the others are kept.
      Object.entries(all).flatMap(([name, value]) => {
        const { data } = one.safeParse(value)
        return data === undefined ? [] : [[name, data] as const]
      }),
    ),
  )
const none = z.unknown().optional()
const pluginShape = z.object({ plugins: byName(pluginOffer), no_update: none })
const pluginRest = z.object({ no_update: byName(pluginOffer) })
const themeShape = z.object({ themes: byName(offered) })
const themeRest = z.object({ no_update: byName(offered) })

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const { data } = schema.safeParse(value)
  if (data === undefined) throw new DriverFailure('unavailable', `${peer} answers something else`)
  return data
}

/** The origin of packages: wordpress.org has a host of its own for them. */
const originOfPackages = (base: URL): string =>
  base.host === 'api.wordpress.org' ? 'https://downloads.wordpress.org' : base.origin

/** `url`: the API's address, without a slash at the end: https://api.wordpress.org */
export function createDirectoryClient(url: string): UpdateDirectory {
  const origin = originOfPackages(new URL(url))
  const handsOut = (where: string): boolean =>
    URL.canParse(where) && new URL(where).origin === origin

  async function ask(path: string, form?: Record<string, string>): Promise<unknown> {
    const answer = await callHttp({
      peer,
      method: form ? 'POST' : 'GET',
      url: `${url}${path}`,
      ...(form && { form }),
      timeoutMs,
      maxBytes,
      repeatable: true,
    })
    return jsonOf(answer, peer)
  }

  async function coreReleases(of: Question['core'][number]): Promise<Release[]> {
    const query = new URLSearchParams({
      version: of.version,
      php: of.php,
      locale: 'en_US',
      mysql: '8.0',
    })
    const { offers } = read(coreShape, await ask(`/core/version-check/1.7/?${query}`))
    // `autoupdate` is a release of the same branch, which sites install by themselves; `upgrade` is
    // the newest release of all.
    return offers
      .filter(({ response }) => response === 'autoupdate' || response === 'upgrade')
      .map((offer) => ({
        kind: 'core' as const,
        slug: 'wordpress',
        main: '',
        name: 'WordPress',
        version: offer.version,
        security: offer.response === 'autoupdate',
        package:
          typeof offer.packages.no_content === 'string' && offer.packages.no_content !== ''
            ? offer.packages.no_content
            : offer.packages.full,
        requiresPhp: offer.php_version,
        requiresWordpress: null,
      }))
  }

  async function pluginReleases(all: Question['plugins']): Promise<Release[]> {
    if (all.length === 0) return []
    const names = new Map(all.map(({ main, name }) => [main, name]))
    const plugins = Object.fromEntries(
      all.map(({ main, name, version: Version }) => [main, { Name: name, Version }]),
    )
    const answer = await ask('/plugins/update-check/1.1/', {
      plugins: JSON.stringify({ plugins, active: [] }),
      translations: '[]',
      locale: '[]',
      all: 'true',
    })
    const newer = read(pluginShape, answer).plugins
    const rest = pluginRest.safeParse(answer).data?.no_update ?? []
    return [...newer, ...rest].flatMap(([main, offer]) => {
      // An offer may only replace the folder of the plugin that was asked about.
      const name = names.get(main)
      if (name === undefined || main.split('/')[0] !== offer.slug) return []
      return [{ kind: 'plugin' as const, slug: offer.slug, main, name, ...termsOf(offer) }]
    })
  }

  async function themeReleases(all: Question['themes']): Promise<Release[]> {
    if (all.length === 0) return []
    const names = new Map(all.map((theme) => [theme.slug, theme.name]))
    const themes = Object.fromEntries(
      all.map((theme) => [theme.slug, { Name: theme.name, Version: theme.version }]),
    )
    const answer = await ask('/themes/update-check/1.1/', {
      themes: JSON.stringify({ active: all[0]?.slug ?? '', themes }),
      translations: '[]',
      locale: '[]',
    })
    const newer = read(themeShape, answer).themes
    const rest = themeRest.safeParse(answer).data?.no_update ?? []
    return [...newer, ...rest].flatMap(([name, offer]) => {
      const shown = names.get(name)
      return shown === undefined
        ? []
        : [{ kind: 'theme' as const, slug: name, main: '', name: shown, ...termsOf(offer) }]
    })
  }

  return {
    handsOut,
    async releases(question) {
      const answers: Release[] = []
      for (const one of question.core) answers.push(...(await coreReleases(one)))
      answers.push(...(await pluginReleases(question.plugins)))
      answers.push(...(await themeReleases(question.themes)))
      // A premium plugin is listed without a package, and a forged answer may name another host's.
      return answers.filter((release) => handsOut(release.package))
    },
  }
}

const termsOf = (offer: z.output<typeof offered>) => ({
  version: offer.new_version,
  security: offer.autoupdate,
  package: offer.package,
  requiresPhp: offer.requires_php,
  requiresWordpress: offer.requires,
})

/**
 * The front end's files, and its page for every address that is no call. The page names the chunks
 * of the address, so that they load at once.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { loopbackNames } from '../platform/loopback.ts'
import { branded, type Brand } from './brand.ts'

/**
 * Made by the build of web/: a route such as /wordpress/:id, the chunks that its page needs, and
 * its texts in each language.
 */
type Preloads = Readonly<
  Record<
    string,
    {
      readonly files: readonly string[]
      readonly texts: Readonly<Record<string, readonly string[]>>
    }
  >
>

/** /api/payments/success is a page of the front end although its path begins with /api. */
const pagesUnderApi = new Set(['/api/payments/success'])
const callPrefixes = ['/api', '/apps', '/app', '/metrics', '/healthz', '/readyz', '/assets']

/**
 * For compression during a request: a tenth larger than brotli's best, in a hundredth of the time.
 */
const brotliQuality = 6

/** One page in every encoding, each compressed at its first request. */
class EncodedPage {
  readonly #plain: Buffer
  readonly #bodies = new Map<string, Buffer>()
  constructor(html: string) {
    this.#plain = Buffer.from(html)
  }

  #body(encoding: string): Buffer {
    if (encoding === '') return this.#plain
    let body = this.#bodies.get(encoding)
    if (!body) {
      body =
        encoding === 'br'
          ? brotliCompressSync(this.#plain, {
              params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality },
            })
          : gzipSync(this.#plain)
      this.#bodies.set(encoding, body)
    }
    return body
  }

  /** `accepted` is the Accept-Encoding header. */
  send(reply: FastifyReply, accepted: string | undefined): FastifyReply {
    const encoding =
      ['br', 'gzip'].find((name) =>
        new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\b)`).test(accepted ?? ''),
      ) ?? ''
    if (encoding !== '') reply.header('content-encoding', encoding)
    return reply.header('vary', 'accept-encoding').send(this.#body(encoding))
  }
}

export const isPage = (path: string): boolean =>
  pagesUnderApi.has(path) ||
  !callPrefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))

/**
 * The same machine under another name is another origin with another session storage: a visitor of
 * localhost would return from a gateway to 127.0.0.1 signed out. So redirect, but only between
 * names of this machine, because behind a proxy the Host may be anything.
 */
function properOrigin(request: FastifyRequest, portalUrl: string): string | undefined {
  const portal = new URL(portalUrl)
  const host = request.headers.host ?? ''
  if (host === portal.host || !URL.canParse(`http://${host}`)) return undefined
  const asked = new URL(`http://${host}`)
  return loopbackNames.has(portal.hostname) &&
    loopbackNames.has(asked.hostname) &&
    asked.port === portal.port
    ? portalUrl + request.url
    : undefined
}

/** Paths of all files in a folder and below, from there, with `/` between their parts. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((file) => file.split(path.sep).join('/'))

/** `folder` is the build of web/. Without one, pages answer 503 with a hint. */
export function servePages(
  server: FastifyInstance,
  folder: string,
  portalUrl: string,
  brand: Brand,
  notFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const index = path.join(folder, 'index.html')
  const built = existsSync(index)
  const html = built ? branded(readFileSync(index, 'utf8'), brand) : ''
  const preloadFile = path.join(folder, 'preload.json')
  const preloads = Object.entries(
    existsSync(preloadFile) ? (JSON.parse(readFileSync(preloadFile, 'utf8')) as Preloads) : {},
  ).map(([route, { files, texts }]) => {
    const links = files.map((file) => `<link rel="modulepreload" href="${file}">`).join('')
    // Which of them is read is known in the browser only: theme.js asks for it.
    const meta = `<meta name="text-files" content='${JSON.stringify(texts)}'>`
    return {
      matches: new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}/?$`),
      page: new EncodedPage(
        html
          .replace('<script src="/theme.js">', () => `${meta}<script src="/theme.js">`)
          .replace('</head>', `${links}</head>`),
      ),
    }
  })
  const anyPage = new EncodedPage(html)
  const deskFile = path.join(folder, 'operator', 'index.html')
  const desk = new EncodedPage(
    existsSync(deskFile) ? branded(readFileSync(deskFile, 'utf8'), brand) : html,
  )

  if (brand.logo !== null) {
    const { type, bytes } = brand.logo
    server.get('/brand/logo', (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=3600').send(bytes),
    )
  }
  if (built) {
    void server.register(fastifyStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders(reply, file) {
        // Built files carry a hash of their content in their name.
        reply.header(
          'cache-control',
          file.includes(`${path.sep}assets${path.sep}`)
            ? 'public, max-age=31536000, immutable'
            : 'public, max-age=3600',
        )
      },
    })
  }

  // One route for all files: the plugin would add two routes per file, which costs a tenth of a
  // second at each start. A path that names no file never reaches the disk.
  const files = new Set(built ? filesBelow(folder) : [])
  server.get('/*', (request, reply) => {
    const { '*': file } = request.params as { '*': string }
    return files.has(file) ? reply.sendFile(file) : reply.callNotFound()
  })

  server.setNotFoundHandler((request, reply) => {
    // Not by URL, which takes `//` for a host without a name and throws.
    const [pathname = '/'] = request.url.split(/[?#]/, 1)
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !isPage(pathname))
      return notFound(request, reply)
    // No screen's path looks like a file: /.env or /wp-login.php is no page.
    if (/\.[^/]*$/.test(pathname)) return notFound(request, reply)
    const elsewhere = properOrigin(request, portalUrl)
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 302)
    if (!built)
      return reply
        .code(503)
        .type('text/plain; charset=utf-8')
        .send('The pages are not built yet: npm run build\n')
    // The screen that leads a member into a customer's portal belongs to the desk.
    const isDesk = /^\/(operator(\/|$)|see$)/.test(pathname)
    const page = isDesk
      ? desk
      : (preloads.find(({ matches }) => matches.test(pathname))?.page ?? anyPage)
    return page.send(
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache'),
      request.headers['accept-encoding'],
    )
  })
}

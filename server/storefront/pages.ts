/** The front end's files, and its page for every address that is no call. The page names the chunks of the address, so that they load at once. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

interface Preload {
  /** A regular expression over the path. */
  readonly pattern: string
  readonly files: readonly string[]
}

/** /api/payments/success is a page of the front end although its path begins with /api. */
const pagesUnderApi = new Set(['/api/payments/success'])
const callPrefixes = ['/api', '/apps', '/app', '/metrics', '/healthz', '/readyz', '/assets']

export const isPage = (path: string): boolean => pagesUnderApi.has(path) || !callPrefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))

/** `folder` is the build of web/. Without one, pages answer 503 with a hint. */
export function servePages(server: FastifyInstance, folder: string, notFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply): void {
  const index = path.join(folder, 'index.html')
  const built = existsSync(index)
  const html = built ? readFileSync(index, 'utf8') : ''
  const preloadFile = path.join(folder, 'preload.json')
  const preloads = (existsSync(preloadFile) ? (JSON.parse(readFileSync(preloadFile, 'utf8')) as Preload[]) : []).map(({ pattern, files }) => {
    const links = files.map((file) => `<link rel="modulepreload" href="/${file.replace(/^\//, '')}">`).join('')
    return { matches: new RegExp(pattern), page: html.replace('</head>', `${links}</head>`) }
  })

  if (built) {
    void server.register(fastifyStatic, {
      root: folder,
      prefix: '/',
      index: false,
      wildcard: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders(reply, file) {
        // Built files carry a hash of their content in their name.
        reply.header('cache-control', file.includes(`${path.sep}assets${path.sep}`) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
      },
    })
  }

  server.setNotFoundHandler((request, reply) => {
    // Not through URL, which takes `//` for a host without a name and throws.
    const [pathname = '/'] = request.url.split(/[?#]/, 1)
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !isPage(pathname)) return notFound(request, reply)
    if (!built) return reply.code(503).type('text/plain; charset=utf-8').send('The pages are not built yet: npm run build\n')
    const page = preloads.find(({ matches }) => matches.test(pathname))?.page ?? html
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page)
  })
}

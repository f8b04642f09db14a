/** The front end's files, and its page for every address that is no call. The page names the chunks of the address, so that they load at once. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Made by the build of web/: a route such as /wordpress/:id, and the chunks that its page needs. */
type Preloads = Readonly<Record<string, readonly string[]>>

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
  const preloads = Object.entries(existsSync(preloadFile) ? (JSON.parse(readFileSync(preloadFile, 'utf8')) as Preloads) : {}).map(([route, files]) => {
    const links = files.map((file) => `<link rel="modulepreload" href="/${file.replace(/^\//, '')}">`).join('')
    return { matches: new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}/?$`), page: html.replace('</head>', `${links}</head>`) }
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
    const { pathname } = new URL(request.url, 'http://portal')
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !isPage(pathname)) return notFound(request, reply)
    if (!built) return reply.code(503).type('text/plain; charset=utf-8').send('The pages are not built yet: npm run build\n')
    const page = preloads.find(({ matches }) => matches.test(pathname))?.page ?? html
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page)
  })
}

/** Bytes of each route, layout shift, and Lighthouse (mobile) of /login and / against a static page in the same run. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { median, report, signIn, startPortal } from './portal.ts'

const build = path.resolve(import.meta.dirname, '../dist/web')
const kb = (bytes: number): number => bytes / 1000
const gzipped = (file: string): number => gzipSync(readFileSync(path.join(build, file)), { level: 9 }).length

// ---- bytes
const html = readFileSync(path.join(build, 'index.html'), 'utf8')
interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
}
const manifest = JSON.parse(readFileSync(path.join(build, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk & { isEntry?: boolean }>
function withImports(key: string, into: Set<string>): Set<string> {
  const chunk = manifest[key]
  if (!chunk || into.has(chunk.file)) return into
  into.add(chunk.file)
  for (const next of chunk.imports ?? []) withImports(next, into)
  return into
}
const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? ''
const always = withImports(entry, new Set())
const preload = JSON.parse(readFileSync(path.join(build, 'preload.json'), 'utf8')) as Record<string, string[]>
/** The texts of a language, largest first to be fair: what every screen needs, and the group that the route names in web/routes.tsx. */
const texts = (group: string): number =>
  Math.max(...['en', 'vi'].map((language) => gzipped(manifest[`i18n/${language}${group}.ts`]?.file ?? '')))
const groupOf = (route: string): number =>
  /^\/(wordpress|hosting)/.test(route)
    ? texts('-servers') + (route.endsWith('/:id') ? texts('-site') : 0)
    : route === '/transactions'
      ? texts('-wallet')
      : /^\/(payment\/|payments\/|link-card)/.test(route)
        ? texts('-payments')
        : 0
let worst = { route: '', bytes: 0 }
for (const [route, files] of Object.entries(preload)) {
  const all = new Set([...always, ...files.map((file) => file.replace(/^\//, ''))])
  const bytes = [...all].filter((file) => file.endsWith('.js')).reduce((sum, file) => sum + gzipped(file), 0) + texts('') + groupOf(route)
  if (bytes > worst.bytes) worst = { route, bytes }
}
report(`JS of the heaviest route (${worst.route}), one language, gzip`, kb(worst.bytes), 160, 'kB')
// The page carries its style inside; a sheet that nothing names is not loaded.
const css = readdirSync(path.join(build, 'assets')).filter((file) => file.endsWith('.css') && html.includes(file))
const inlineCss = [...html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)].reduce((sum, match) => sum + gzipSync(match[1] ?? '').length, 0)
report('CSS, gzip', kb(css.reduce((sum, file) => sum + gzipped(`assets/${file}`), 0) + inlineCss), 15, 'kB')
const fonts = readdirSync(path.join(build, 'assets')).filter((file) => file.endsWith('.woff2'))
report('fonts', kb(fonts.reduce((sum, file) => sum + readFileSync(path.join(build, 'assets', file)).length, 0)), 40, 'kB')

// ---- Lighthouse
const portal = await startPortal()
const token = await signIn(portal)
const floor =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="description" content="floor"><title>Floor</title></head><body><h1>Floor</h1><p>A page without a script.</p></body></html>'
/** In front of the portal: /floor is a static page; a signed-in visitor is made by a script of the portal's own origin, since session storage cannot be handed to Lighthouse. */
const front = http.createServer((request, response) => {
  const url = request.url ?? '/'
  if (url === '/floor') return void response.writeHead(200, { 'content-type': 'text/html' }).end(floor)
  // The page is changed on its way, so it is asked for uncompressed and compressed again here.
  const { 'accept-encoding': _encodings, ...rest } = request.headers
  const headers = { ...(url === '/' ? rest : request.headers), host: new URL(portal.url).host }
  const onward = http.request(`${portal.url}${url}`, { method: request.method, headers }, (answer) => {
    const isPage = (answer.headers['content-type'] ?? '').startsWith('text/html') && url === '/'
    if (!isPage) {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      return
    }
    const parts: Buffer[] = []
    answer.on('data', (part: Buffer) => parts.push(part))
    answer.on('end', () => {
      // The script is inside the page, where the portal's policy would not let it be, so that it costs no request of its own.
      const { 'content-length': _length, 'content-security-policy': _policy, ...kept } = answer.headers
      response.writeHead(answer.statusCode ?? 200, { ...kept, 'content-encoding': 'gzip' })
      response.end(
        gzipSync(
          Buffer.concat(parts)
            .toString()
            .replace(
              '<head>',
              `<head><script>sessionStorage.setItem('accessToken',${JSON.stringify(token)});sessionStorage.setItem('isLogin','1')</script>`,
            ),
        ),
      )
    })
  })
  onward.on('error', () => response.writeHead(502).end())
  request.pipe(onward)
})
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(front.address() as { port: number }).port}`
const profile = mkdtempSync(path.join(os.tmpdir(), 'portal-lighthouse-'))
const chrome = await launch({
  chromePath: await browserPath(),
  userDataDir: profile,
  chromeFlags: ['--headless=new', ...browserArguments, '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'],
})
const runs = Number(process.env['LIGHTHOUSE_RUNS'] ?? 3)
async function score(page: string): Promise<{ score: number; cls: number }> {
  const scores: number[] = []
  const shifts: number[] = []
  for (let run = 0; run < runs; run++) {
    const result = await lighthouse(`${origin}${page}`, { port: chrome.port, onlyCategories: ['performance'], logLevel: 'error' })
    scores.push((result?.lhr.categories['performance']?.score ?? 0) * 100)
    shifts.push(result?.lhr.audits['cumulative-layout-shift']?.numericValue ?? 1)
  }
  return { score: median(scores), cls: Math.max(...shifts) }
}
try {
  const base = await score('/floor')
  console.log(`      the static page in the same run: ${base.score}`)
  for (const page of ['/login', '/']) {
    const { score: points, cls } = await score(page)
    report(`Lighthouse mobile of ${page}, out of the static page's figure`, (points / base.score) * 100, 90, '', true)
    report(`layout shift of ${page}`, cls, 0.02, '')
  }
} finally {
  chrome.kill()
  front.close()
  await portal.stop()
  if (existsSync(profile)) rmSync(profile, { recursive: true, force: true })
}

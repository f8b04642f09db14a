/**
 * Bytes of each route, layout shift, and Lighthouse (mobile) of /login and / compared with a static
 * page in the same run; and with peers that are already built (PEERS=name=folder,…).
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { fontBytes, scriptBytes, styleBytes } from '../test/page-bytes.ts'
import { median, report, signIn, startPortal } from './portal.ts'
import { peers, serveFolder } from './static-folder.ts'

const kb = (bytes: number): number => bytes / 1000

// ---- bytes
const worst = scriptBytes().toSorted((one, other) => other.bytes - one.bytes)[0] ?? {
  route: '',
  bytes: 0,
}
report(`JS of the heaviest route (${worst.route}), one language, gzip`, kb(worst.bytes), 160, 'kB')
report('CSS, gzip', kb(styleBytes()), 15, 'kB')
report('fonts', kb(fontBytes()), 40, 'kB')

// ---- Lighthouse
const portal = await startPortal()
const token = await signIn(portal)
const floor =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" ' +
  'content="width=device-width"><meta name="description" ' +
  'content="floor"><title>Floor</title></head><body><h1>Floor</h1><p>A page without a ' +
  'script.</p></body></html>'
/**
 * A proxy in front of the portal: /floor is a static page. A script of the portal's own origin
 * signs the visitor in, because session storage cannot be passed to Lighthouse.
 */
const front = http.createServer((request, response) => {
  const url = request.url ?? '/'
  if (url === '/floor')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end(floor)
  // The page is changed by the proxy, so it is requested uncompressed and compressed again here.
  const { 'accept-encoding': _encodings, ...rest } = request.headers
  const headers = { ...(url === '/' ? rest : request.headers), host: new URL(portal.url).host }
  const onward = http.request(
    `${portal.url}${url}`,
    { method: request.method, headers },
    (answer) => {
      const isPage = (answer.headers['content-type'] ?? '').startsWith('text/html') && url === '/'
      if (!isPage) {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
        return
      }
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => {
        // The script is inlined in the page (for which the portal's policy is removed), so that it
        // costs no request of its own.
        const {
          'content-length': _length,
          'content-security-policy': _policy,
          ...kept
        } = answer.headers
        response.writeHead(answer.statusCode ?? 200, { ...kept, 'content-encoding': 'gzip' })
        response.end(
          gzipSync(
            Buffer.concat(parts)
              .toString()
              .replace(
                '<head>',
                `<head><script>sessionStorage.setItem('accessToken',${JSON.stringify(token)}` +
                  ");sessionStorage.setItem('isLogin','1')</script>",
              ),
          ),
        )
      })
    },
  )
  onward.on('error', () => response.writeHead(502).end())
  request.pipe(onward)
})
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(front.address() as { port: number }).port}`
const profile = mkdtempSync(path.join(os.tmpdir(), 'portal-lighthouse-'))
const chrome = await launch({
  chromePath: await browserPath(),
  userDataDir: profile,
  chromeFlags: [
    '--headless=new',
    ...browserArguments,
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  ],
})
const runs = Number(process.env['LIGHTHOUSE_RUNS'] ?? 3)
/** The parts of the score, ms, as Lighthouse simulates a slow phone. */
const timings = [
  'first-contentful-paint',
  'largest-contentful-paint',
  'total-blocking-time',
  'speed-index',
]
async function score(page: string, from = origin): Promise<{ score: number; cls: number }> {
  const scores: number[] = []
  const spent = new Map<string, number[]>()
  const shifts: number[] = []
  for (let run = 0; run < runs; run++) {
    const result = await lighthouse(`${from}${page}`, {
      port: chrome.port,
      onlyCategories: ['performance'],
      logLevel: 'error',
    })
    const lhr = result?.lhr
    const points = lhr?.categories['performance']?.score
    const shift = lhr?.audits['cumulative-layout-shift']?.numericValue
    // A run without a measurement is an error, and does not count as a bad page.
    if (typeof points !== 'number' || typeof shift !== 'number')
      throw new Error(
        `Lighthouse has no figure for ${page}: ${lhr?.runtimeError?.message ?? 'no reason given'}`,
      )
    scores.push(points * 100)
    shifts.push(shift)
    for (const name of timings)
      spent.set(name, [...(spent.get(name) ?? []), lhr?.audits[name]?.numericValue ?? 0])
  }
  const spans = timings.map((name) => `${name} ${median(spent.get(name) ?? []).toFixed(0)} ms`)
  console.log(`      ${from === origin ? page : from}: ${spans.join(', ')}`)
  return { score: median(scores), cls: Math.max(...shifts) }
}
try {
  const base = await score('/floor')
  console.log(`      the static page in the same run: ${base.score}`)
  for (const page of ['/login', '/']) {
    const { score: points, cls } = await score(page)
    report(
      `Lighthouse mobile of ${page}, out of the static page's figure`,
      (points / base.score) * 100,
      90,
      '',
      true,
    )
    report(`layout shift of ${page}`, cls, 0.02, '')
  }
  for (const { name, folder } of peers()) {
    const { score: points, cls } = await score('/', await serveFolder(folder))
    console.log(
      `      ${name} in the same run: ${points.toFixed(0)}, layout shift ${cls.toFixed(3)}`,
    )
  }
} finally {
  chrome.kill()
  front.close()
  await portal.stop()
  if (existsSync(profile)) rmSync(profile, { recursive: true, force: true })
}

/**
 * Serves a built single-page application like a web server: compressed, cached, with its page for
 * every unknown address.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Returns the address; the server ends with the process. */
export async function serveFolder(folder: string): Promise<string> {
  const cache = new Map<string, { body: Buffer; headers: Record<string, string> }>()
  const answer = (file: string): { body: Buffer; headers: Record<string, string> } => {
    const known = cache.get(file)
    if (known) return known
    const type = types[path.extname(file)]
    const raw = readFileSync(file)
    const made = {
      body: type ? gzipSync(raw) : raw,
      headers: {
        ...(type && { 'content-type': type, 'content-encoding': 'gzip' }),
        'cache-control': file.endsWith('.html') ? 'no-cache' : 'max-age=31536000, immutable',
      },
    }
    cache.set(file, made)
    return made
  }
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://peer')
    const file = path.join(folder, path.normalize(decodeURIComponent(pathname)))
    const { body, headers } = answer(
      existsSync(file) && statSync(file).isFile() ? file : path.join(folder, 'index.html'),
    )
    response.writeHead(200, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

/**
 * Peers to measure beside the portal, from PEERS: `name=folder of its build`, separated by commas.
 * Nothing of them is part of this repository.
 */
export const peers = (): { name: string; folder: string }[] =>
  (process.env['PEERS'] ?? '')
    .split(',')
    .filter((one) => one.includes('='))
    .map((one) => ({
      name: one.slice(0, one.indexOf('=')),
      folder: one.slice(one.indexOf('=') + 1),
    }))

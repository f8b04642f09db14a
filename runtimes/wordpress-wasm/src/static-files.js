// Serves files without PHP: types, caching, conditions and ranges as browsers expect them.
import fs from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'

const text = (type) => `${type}; charset=utf-8`
const types = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  css: text('text/css'),
  csv: text('text/csv'),
  doc: 'application/msword',
  eot: 'application/vnd.ms-fontobject',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  flac: 'audio/flac',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: text('text/html'),
  html: text('text/html'),
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: text('text/javascript'),
  json: 'application/json',
  m4a: 'audio/mp4',
  m4v: 'video/mp4',
  map: 'application/json',
  md: text('text/markdown'),
  mjs: text('text/javascript'),
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  ogv: 'video/ogg',
  otf: 'font/otf',
  pdf: 'application/pdf',
  png: 'image/png',
  rss: 'application/rss+xml',
  svg: 'image/svg+xml',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  ttf: 'font/ttf',
  txt: text('text/plain'),
  wasm: 'application/wasm',
  wav: 'audio/wav',
  webm: 'video/webm',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: text('text/xml'),
  xsl: text('text/xsl'),
  zip: 'application/zip',
}

/** Serves one file. Returns the status and the bytes sent. */
export async function serveFile(request, response, { file, stat }, search) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', 'content-length': 0 }).end()
    return { status: 405, bytes: 0 }
  }
  // Made from size and time like nginx's, but strong, so that a download can be resumed.
  const etag = `"${Math.trunc(stat.mtimeMs).toString(36)}-${stat.size.toString(36)}"`
  const headers = {
    'content-type': types[path.extname(file).slice(1).toLowerCase()] ?? 'application/octet-stream',
    'last-modified': stat.mtime.toUTCString(),
    etag,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    // WordPress adds ?ver= to the addresses of its own scripts and styles, so a new version has a
    // new address.
    'cache-control': /[?&]ver=/.test(search)
      ? 'public, max-age=31536000, immutable'
      : 'public, max-age=3600',
  }
  const match = request.headers['if-none-match']
  const since = Date.parse(request.headers['if-modified-since'] ?? '')
  if (
    match
      ? match.split(/\s*,\s*/).some((one) => one.replace(/^W\//, '') === etag || one === '*')
      : since >= Math.trunc(stat.mtimeMs / 1000) * 1000
  ) {
    response.writeHead(304, headers).end()
    return { status: 304, bytes: 0 }
  }
  let [start, end, status] = [0, stat.size - 1, 200]
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '')
  const ifRange = request.headers['if-range']
  const isSame = ifRange === undefined || ifRange === etag || ifRange === headers['last-modified']
  if (range && (range[1] || range[2]) && isSame) {
    start = range[1] ? Number(range[1]) : Math.max(0, stat.size - Number(range[2]))
    end = range[1] && range[2] ? Math.min(Number(range[2]), stat.size - 1) : stat.size - 1
    if (start > end || start >= stat.size) {
      response
        .writeHead(416, { 'content-range': `bytes */${stat.size}`, 'content-length': 0 })
        .end()
      return { status: 416, bytes: 0 }
    }
    status = 206
    headers['content-range'] = `bytes ${start}-${end}/${stat.size}`
  }
  const length = Math.max(0, end - start + 1)
  response.writeHead(status, { ...headers, 'content-length': length })
  if (request.method === 'HEAD' || length === 0) {
    response.end()
    return { status, bytes: 0 }
  }
  await pipeline(
    fs.createReadStream(file, {
      start,
      end,
      flags: fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0),
    }),
    response,
  ).catch(() => {})
  return { status, bytes: length }
}

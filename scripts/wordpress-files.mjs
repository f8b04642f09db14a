// Provides what the embedded WordPress driver needs and the repository does not contain: the
// WordPress tree, the SQLite plugin, the runtime's packages, and databases installed in advance.
// Plain JavaScript for Node 20 and newer, without dependencies, because `npm start` runs it before
// anything else.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import readline from 'node:readline'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createGunzip } from 'node:zlib'

const repository = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
export const defaultFilesDir = path.join(repository, '.cache', 'wordpress-7.1.1')
export const defaultRuntimeDir = path.join(repository, 'runtimes', 'wordpress-wasm')

/**
 * Automattic's WordPress Studio (GPL-2.0-or-later) ships WordPress 7.1.1 with all files and the
 * SQLite plugin.
 */
const tarball = {
  name: 'wp-studio@1.22.0',
  integrity:
    'sha512-boMtahkhgWDKKyNTBA1uTK5ghnAmxXhDY6KeQCO9FmcI3/o+YOSq8JwYW5ZYnxHCxH14Jf/mD6CJTBvTWl' +
    '2Ytw==',
  bytes: 67_324_190,
}
/** Written last. Any other text in it means another layout and a fresh start. */
const complete = JSON.stringify({ layout: 1, from: tarball })
/** Must change with the layout of templates. */
const templateLayout = 2
/**
 * npm tarballs give every file a time in 1985; the sites' copies and opcache need one fixed,
 * plausible time.
 */
const fileTime = new Date('2026-09-01T00:00:00Z')
const source = 'package/dist/cli/wp-files/'

const isComplete = (dir, mark) => {
  try {
    return fs.readFileSync(path.join(dir, '.complete'), 'utf8') === mark
  } catch {
    return false
  }
}
const scratchName = (dir) => `${dir}.making-${process.pid}-${randomBytes(4).toString('hex')}`

/**
 * Runs `make(scratch)` and moves the result into place at once. If two run at the same time, the
 * loser discards its own.
 */
async function makeOnce(dir, mark, make) {
  if (isComplete(dir, mark)) return
  const scratch = scratchName(dir)
  fs.mkdirSync(scratch, { recursive: true })
  try {
    await make(scratch)
    fs.writeFileSync(path.join(scratch, '.complete'), mark)
    if (isComplete(dir, mark)) return
    // It is incomplete, so nobody uses it: an older layout, or leftovers. It is renamed first,
    // because removing takes long.
    if (fs.existsSync(dir)) {
      const old = scratchName(dir)
      fs.renameSync(dir, old)
      fs.rmSync(old, { recursive: true, force: true })
    }
    try {
      fs.renameSync(scratch, dir)
    } catch (error) {
      if (!isComplete(dir, mark)) throw error
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

/** Runs npm; returns its standard output. */
function npm(args, cwd, quiet = true) {
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32'
    const child = spawn(windows ? 'npm.cmd' : 'npm', args, {
      cwd,
      shell: windows,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => {
      err += chunk
      if (!quiet) process.stderr.write(chunk)
    })
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0
        ? resolve(out.trim())
        : reject(new Error(`npm ${args[0]} failed (${code}): ${err.slice(-2_000)}`)),
    )
  })
}

async function download(target, onProgress) {
  const hash = createHash('sha512')
  let done = 0
  const count = new Transform({
    transform(chunk, _encoding, next) {
      hash.update(chunk)
      done += chunk.length
      onProgress({ label: 'WordPress', done, total: tarball.bytes })
      next(null, chunk)
    },
  })
  let body
  try {
    const response = await fetch(
      await npm(['view', tarball.name, 'dist.tarball'], path.dirname(target)),
    )
    if (!response.ok) throw new Error(`the registry answered ${response.status}`)
    body = Readable.fromWeb(response.body)
  } catch {
    // The registry needs npm's own credentials or proxy, so npm downloads the file, without
    // progress.
    const [file] = JSON.parse(
      await npm(
        ['pack', tarball.name, '--json', '--pack-destination', path.dirname(target)],
        path.dirname(target),
      ),
    )
    body = fs.createReadStream(path.join(path.dirname(target), path.basename(file.filename)))
  }
  await pipeline(body, count, fs.createWriteStream(target))
  if (`sha512-${hash.digest('base64')}` !== tarball.integrity)
    throw new Error(`${tarball.name}: what was downloaded is not what was pinned`)
}

/** The target path of a file in the tarball, or null when it is not needed. */
function placeOf(name) {
  if (!name.startsWith(source)) return null
  const rest = name.slice(source.length)
  if (rest.split('/').includes('..')) return null
  if (rest.startsWith('latest/wordpress/')) return `wp/${rest.slice('latest/wordpress/'.length)}`
  if (rest.startsWith('sqlite-database-integration/')) return rest
  const language = /^latest\/languages\/((?:[a-z-]+-)?vi[.-][^/]+)$/.exec(rest)
  return language ? `wp/wp-content/languages/${language[1]}` : null
}

/** Reads the tar format as npm writes it: regular files, ustar names with prefix, pax headers. */
async function unpack(file, target, onProgress) {
  let buffered = Buffer.alloc(0)
  let body = null
  let paxName = null
  let files = 0
  const text = (block, from, length) => {
    const end = block.indexOf(0, from)
    return block.toString('utf8', from, end >= 0 && end < from + length ? end : from + length)
  }
  const finish = ({ type, name, chunks }) => {
    const content = Buffer.concat(chunks)
    if (type === 'x') {
      paxName = /(?:^|\n)\d+ path=([^\n]+)\n/.exec(content.toString('utf8'))?.[1] ?? null
      return
    }
    paxName = null
    const place = type === '0' || type === '\0' ? placeOf(name) : null
    if (place === null) return
    const full = path.join(target, place)
    fs.mkdirSync(path.dirname(full), { recursive: true })
    fs.writeFileSync(full, content)
    fs.utimesSync(full, fileTime, fileTime)
    files++
    if (files % 50 === 0) onProgress({ label: 'WordPress files', done: files, total: 3_900 })
  }
  for await (const chunk of fs.createReadStream(file).pipe(createGunzip())) {
    buffered = buffered.length > 0 ? Buffer.concat([buffered, chunk]) : chunk
    let at = 0
    for (;;) {
      if (body) {
        const take = Math.min(body.left, buffered.length - at)
        if (take > 0) {
          if (body.wanted) body.chunks.push(Buffer.from(buffered.subarray(at, at + take)))
          body.left -= take
          at += take
        }
        if (body.left > 0 || buffered.length - at < body.padding) break
        at += body.padding
        finish(body)
        body = null
      }
      if (buffered.length - at < 512) break
      const header = buffered.subarray(at, at + 512)
      at += 512
      if (header[0] === 0) continue
      const size = Number.parseInt(text(header, 124, 12), 8)
      const prefix = text(header, 345, 155)
      const name = paxName ?? (prefix ? `${prefix}/${text(header, 0, 100)}` : text(header, 0, 100))
      const type = String.fromCharCode(header[156])
      body = {
        type,
        name,
        left: size,
        padding: (512 - (size % 512)) % 512,
        chunks: [],
        wanted: type === 'x' || placeOf(name) !== null,
      }
    }
    buffered = buffered.subarray(at)
  }
  if (body) throw new Error(`${tarball.name}: the archive ends in the middle of a file`)
}

/**
 * Makes `dir` hold `wp/` (WordPress 7.1.1) and `sqlite-database-integration/`. Safe to call twice,
 * also at the same time; a broken download is never used.
 * @param {{dir?: string, onProgress?: (step: {label: string, done: number, total: number}) =>
 * void}} [options] bytes for the download, files for unpacking
 * @returns {Promise<string>} the directory
 * @throws when neither the registry nor a cached copy has the pinned tarball
 */
export async function ensureWordpressFiles({ dir = defaultFilesDir, onProgress = () => {} } = {}) {
  await makeOnce(dir, complete, async (scratch) => {
    const file = path.join(scratch, 'download.tgz')
    await download(file, onProgress)
    await unpack(file, scratch, onProgress)
    for (const needed of [
      'wp/wp-load.php',
      'wp/wp-content/languages/vi.l10n.php',
      'sqlite-database-integration/wp-includes/sqlite/db.php',
    ]) {
      if (!fs.existsSync(path.join(scratch, needed)))
        throw new Error(`${tarball.name} holds no ${needed}`)
    }
    for (const name of fs.readdirSync(scratch))
      if (name.endsWith('.tgz')) fs.rmSync(path.join(scratch, name))
  })
  return dir
}

/**
 * `npm ci` in the runtime's folder when its packages are missing or older than its lockfile.
 * @param {{runtimeDir?: string, onProgress?: (step: {label: string, done: number, total: number})
 * => void}} [options]
 */
export async function ensureRuntimePackages({
  runtimeDir = defaultRuntimeDir,
  onProgress = () => {},
} = {}) {
  const mark = path.join(runtimeDir, 'node_modules', '.portal-lock')
  const lock = createHash('sha256')
    .update(fs.readFileSync(path.join(runtimeDir, 'package-lock.json')))
    .digest('hex')
  if (fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === lock) return
  onProgress({ label: 'PHP runtime', done: 0, total: 1 })
  // Two `npm ci` in one folder would break each other, so the second waits for the first.
  const busy = path.join(runtimeDir, '.installing')
  const deadline = Date.now() + 300_000
  for (;;) {
    try {
      fs.mkdirSync(busy)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const age = Date.now() - (fs.statSync(busy, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (age > 300_000 || Date.now() > deadline) fs.rmSync(busy, { recursive: true, force: true })
      else await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  try {
    if (!fs.existsSync(mark) || fs.readFileSync(mark, 'utf8') !== lock) {
      await npm(
        ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
        runtimeDir,
      )
      fs.writeFileSync(mark, lock)
    }
  } finally {
    fs.rmSync(busy, { recursive: true, force: true })
  }
  onProgress({ label: 'PHP runtime', done: 1, total: 1 })
}

/** Sends GET or POST to loopback with the site's own Host; returns status and cookies. */
function ask(port, target, { form, cookie } = {}) {
  return new Promise((resolve, reject) => {
    const body = form ? new URLSearchParams(form).toString() : undefined
    const headers = {
      host: 'template.invalid',
      ...(cookie ? { cookie } : {}),
      ...(body ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    }
    const request = http.request(
      { host: '127.0.0.1', port, path: target, method: body ? 'POST' : 'GET', headers },
      (response) => {
        response.resume()
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            cookies: (response.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]),
          }),
        )
      },
    )
    request.setTimeout(120_000, () => request.destroy(new Error('no answer')))
    request.on('error', reject)
    request.end(body)
  })
}

/**
 * Makes a temporary site: installs it, requests its pages once, and keeps its database and compiled
 * code.
 */
async function makeTemplate({ filesDir, runtimeDir, nodePath, scratch, language }) {
  const siteDir = path.join(scratch, 'site')
  fs.rmSync(siteDir, { recursive: true, force: true })
  fs.cpSync(path.join(filesDir, 'wp'), siteDir, { recursive: true, preserveTimestamps: true })
  const password = randomBytes(24).toString('base64url')
  const child = spawn(
    nodePath,
    [path.join(runtimeDir, 'main.js'), '--site', 'template', '--container', language],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      env: { PATH: process.env.PATH ?? '' },
    },
  )
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    const order = {
      siteDir,
      internalDir: path.join(scratch, 'internal'),
      sqliteDir: path.join(filesDir, 'sqlite-database-integration'),
      ticketsDir: path.join(scratch, 'tickets'),
      url: 'http://template.invalid',
      hosts: [],
      memoryMb: 512,
      phpMemoryMb: 128,
      ssdBytes: 1e9,
      databaseBytes: 1e9,
      internalBytes: 1e9,
      internet: false,
      install: {
        user: 'template',
        password,
        email: 'template@example.invalid',
        title: 'Template',
        language,
        template: true,
      },
    }
    const control = child.stdio[3]
    control.on('error', () => {})
    control.write(`${JSON.stringify(order)}\n`)
    const port = await new Promise((resolve, reject) => {
      readline.createInterface({ input: control }).on('line', (line) => {
        const said = JSON.parse(line)
        if (said.ev === 'listening') resolve(said.port)
        if (said.ev === 'fatal') reject(new Error(said.m))
      })
      child.once('error', reject)
      child.once('close', (code) => reject(new Error(`the WordPress runtime ended with ${code}`)))
    })
    await ask(port, '/')
    const login = await ask(port, '/wp-login.php', {
      form: { log: 'template', pwd: password, testcookie: '1' },
      cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
    })
    await ask(port, '/wp-admin/', { cookie: login.cookies.join('; ') })
    await ask(port, '/wp-json/wp/v2/posts')
    const first = await ask(port, '/')
    if (first.status !== 200) throw new Error(`the template site answers ${first.status}`)
  } finally {
    child.kill('SIGTERM')
    await ended
  }
  fs.cpSync(
    path.join(siteDir, 'wp-content', 'database'),
    path.join(scratch, `database-${language}`),
    {
      recursive: true,
      preserveTimestamps: true,
    },
  )
}

/** The portal may run as another user than the one that prepared the installation. */
function openToAll(dir) {
  fs.chmodSync(dir, 0o755)
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name)
    if (entry.isDirectory()) openToAll(full)
    else if (entry.isFile()) fs.chmodSync(full, 0o644)
  }
}

/**
 * Databases installed ahead of time (one a language, with a random admin nobody knows, replaced
 * when a site takes it over) and PHP's compiled code: with them a new site takes a third of the
 * time. Without them the driver installs from nothing.
 * @param {{dir?: string, runtimeDir?: string, nodePath?: string, onProgress?: (step: {label:
 * string, done: number, total: number}) => void}} [options] `nodePath`: Node 22 or newer
 */
export async function ensureTemplates({
  dir = defaultFilesDir,
  runtimeDir = defaultRuntimeDir,
  nodePath = process.execPath,
  onProgress = () => {},
} = {}) {
  const hash = createHash('sha256')
    .update(`${complete} ${templateLayout}`)
    .update(fs.readFileSync(path.join(runtimeDir, 'package-lock.json')))
  const sources = path.join(runtimeDir, 'src')
  for (const name of fs.readdirSync(sources).sort())
    hash.update(fs.readFileSync(path.join(sources, name)))
  const target = `${dir}-templates`
  await makeOnce(target, hash.digest('hex'), async (scratch) => {
    for (const [index, language] of ['en', 'vi'].entries()) {
      onProgress({ label: 'WordPress template', done: index, total: 2 })
      await makeTemplate({ filesDir: dir, runtimeDir, nodePath, scratch, language })
    }
    fs.renameSync(
      path.join(scratch, 'internal', 'shared', 'opcache'),
      path.join(scratch, 'opcache'),
    )
    for (const name of ['site', 'internal'])
      fs.rmSync(path.join(scratch, name), { recursive: true, force: true })
    openToAll(scratch)
    onProgress({ label: 'WordPress template', done: 2, total: 2 })
  })
  return target
}

/** Everything above, in order. */
export async function ensureWordpress(options = {}) {
  await Promise.all([ensureWordpressFiles(options), ensureRuntimePackages(options)])
  await ensureTemplates(options)
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  let last = ''
  await ensureWordpress({
    onProgress: ({ label, done, total }) => {
      const line = `${label} ${Math.min(100, Math.round((100 * done) / total))}%`
      if (line !== last) process.stderr.write(`\r${line.padEnd(40)}`)
      last = line
    },
  })
  process.stderr.write('\n')
}

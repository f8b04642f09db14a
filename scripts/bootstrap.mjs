/**
 * What every command needs before it can begin, in plain JavaScript for any Node >= 20: the
 * packages of the lockfile (the pinned Node 24 among them), WordPress, and the build of the pages.
 * Each is made once, and again only when its inputs have changed.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(
  import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
  '..',
)
const marks = path.join(root, '.cache')
const minimumNode = 20

const say = (line) => process.stdout.write(`${line}\n`)

/** A progress line, rewritten in place on a terminal and printed now and then elsewhere. */
export function progress() {
  let last = ''
  let lastAt = 0
  return ({ label, done, total }) => {
    const percent = total ? Math.min(100, Math.floor((done / total) * 100)) : undefined
    const bar =
      percent === undefined
        ? ''
        : ` [${'#'.repeat(Math.floor(percent / 4)).padEnd(25, '.')}] ` +
          `${String(percent).padStart(3)} %`
    const line = `  ${label}${bar}`
    if (process.stdout.isTTY)
      process.stdout.write(`\r${line.padEnd(78)}${percent === 100 ? '\n' : ''}`)
    else if (label !== last || percent === 100 || Date.now() - lastAt > 5000) {
      if (line !== last) say(line)
      lastAt = Date.now()
    }
    last = label
  }
}

/** Runs a program to its end. Its output is shown only when it fails, unless `show` is set. */
export function run(command, args, { show = false, env = process.env, cwd = root } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    let output = ''
    if (!show)
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => (output += chunk))
    child.on('error', reject)
    child.on('close', (code, signal) =>
      code === 0
        ? resolve(output)
        : reject(
            new Error(
              `${command} ${args.join(' ')} ended with ${signal ?? code}\n${output.slice(-4000)}`,
            ),
          ),
    )
  })
}

/**
 * The Node that the lockfile pins. On a platform without one: the Node that runs this, if it is new
 * enough.
 */
export function pinnedNode() {
  const pinned = path.join(
    root,
    'node_modules',
    '.bin',
    process.platform === 'win32' ? 'node.cmd' : 'node',
  )
  if (existsSync(pinned)) return pinned
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  throw new Error('There is no pinned Node for this platform: run with Node 24 or newer.')
}

/**
 * The environment of programs that we start: the pinned Node and the tools of node_modules come
 * first.
 */
export const environment = (extra = {}) => ({
  ...process.env,
  // Caches stripped types and compiled code: a start is faster, and needs neither the stripper nor
  // its memory.
  NODE_COMPILE_CACHE: path.join(root, '.cache', 'compiled'),
  PATH: `${path.join(root, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH ?? ''}`,
  ...extra,
})

const markFile = (name) => path.join(marks, `${name}.mark`)
const readMark = (name) => (existsSync(markFile(name)) ? readFileSync(markFile(name), 'utf8') : '')
const writeMark = (name, value) => {
  mkdirSync(marks, { recursive: true })
  writeFileSync(markFile(name), value)
}

function digest(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(path.relative(root, file)).update(readFileSync(file))
  return hash.digest('hex')
}
function filesBelow(folder) {
  if (!existsSync(folder)) return []
  if (statSync(folder).isFile()) return [folder]
  return readdirSync(folder)
    .sort()
    .flatMap((name) => (name === 'node_modules' ? [] : filesBelow(path.join(folder, name))))
}

export async function ensurePackages() {
  if (Number(process.versions.node.split('.')[0]) < minimumNode)
    throw new Error(`Node ${minimumNode} or newer is needed; this is ${process.versions.node}.`)
  const wanted = digest([path.join(root, 'package-lock.json')])
  if (readMark('packages') === wanted && existsSync(path.join(root, 'node_modules'))) return
  say('  Installing packages (once) …')
  const began = Date.now()
  const tick = setInterval(
    () =>
      process.stdout.isTTY &&
      process.stdout.write(
        `\r  Installing packages (once) … ${Math.round((Date.now() - began) / 1000)} s `,
      ),
    1000,
  )
  try {
    // No package needs its install script: what PostgreSQL's would do, the portal does itself at
    // its first boot. `npm ci` is not used: it refuses a lockfile that lacks the entry of another
    // platform's optional package, and a registry may lack those for a while. `--no-save` installs
    // what the lockfile says, with integrity checks, and writes neither it nor package.json.
    await run('npm', [
      'install',
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ])
  } finally {
    clearInterval(tick)
  }
  if (process.stdout.isTTY) process.stdout.write('\n')
  writeMark('packages', wanted)
}

export async function ensureWordpress() {
  const { ensureWordpress: ensure } = await import('./wordpress-files.mjs')
  await ensure({ nodePath: pinnedNode(), onProgress: progress() })
}

/**
 * Bundles the server and has it compiled once into NODE_COMPILE_CACHE. A start then reads some
 * twenty files instead of 1,700, which takes a third of the time and 40 MB less memory in the
 * portal's process.
 */
export async function ensureServerBundle() {
  const wanted = digest([
    ...['server', 'contract', 'sandbox'].flatMap((folder) => filesBelow(path.join(root, folder))),
    path.join(root, 'scripts', 'server-bundle.ts'),
    path.join(root, 'package-lock.json'),
  ])
  if (readMark('server') === wanted && existsSync(serverProgram('main'))) return
  // Clears the mark first, so that an interrupted build is not taken for a complete one.
  writeMark('server', '')
  await run(
    pinnedNode(),
    ['--disable-warning=ExperimentalWarning', path.join(root, 'scripts', 'server-bundle.ts')],
    { env: environment() },
  )
  writeMark('server', wanted)
}

/** The bundle of one of the server's programs: main, api, name-server-process, command. */
export const serverProgram = (name) => path.join(root, 'dist', 'server', `${name}.js`)

export async function ensureWebBuild() {
  const wanted = digest([
    ...filesBelow(path.join(root, 'web')),
    ...filesBelow(path.join(root, 'contract')),
    path.join(root, 'package-lock.json'),
  ])
  const pages = ['index.html', 'operator/index.html'].map((page) =>
    path.join(root, 'dist', 'web', page),
  )
  if (readMark('web') === wanted && pages.every((page) => existsSync(page))) return
  say('  Building the pages …')
  // The desk is built after the customers' pages, whose build empties the folder.
  for (const folder of ['web', 'web/operator'])
    await run(
      pinnedNode(),
      [path.join('node_modules', 'vite', 'bin', 'vite.js'), 'build', folder, '--logLevel', 'warn'],
      {
        env: environment({ NODE_ENV: 'production' }),
      },
    )
  writeMark('web', wanted)
}

/** All of the above: what a start needs and a fresh clone lacks. */
export async function prepare() {
  await ensurePackages()
  await ensureWordpress()
  await ensureWebBuild()
  await ensureServerBundle()
}

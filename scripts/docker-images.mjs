// Builds the images of runtimes/docker in a container engine: `npm run docker:images`. They are
// based on BASE_IMAGE if it is available, otherwise on a Debian made by debootstrap, so that no
// registry is needed. With `--update` they are rebuilt from Debian's present packages.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'

const run = promisify(execFile)
const folder = path.join(import.meta.dirname, '..', 'runtimes', 'docker')
/** Programs that the portal runs in a container of its own to copy a database. */
export const dockerToolsDir = path.join(folder, 'tools')
const parts = ['mariadb', 'wordpress']
const release = 'bookworm'
const ownBase = `portal-debian:${release}`
const mirror = 'http://deb.debian.org/debian'

/** Identifies the files that an image is built from: a change of one leads to a new image. */
export function imagesKey() {
  const sum = createHash('sha256').update(release)
  for (const part of parts)
    for (const name of fs.readdirSync(path.join(folder, part)).sort())
      sum.update(`${part}/${name}\n`).update(fs.readFileSync(path.join(folder, part, name)))
  return sum.digest('hex').slice(0, 12)
}

/** The names of the images. */
export const imageNames = {
  wordpress: `portal-wordpress:${imagesKey()}`,
  mariadb: `portal-mariadb:${imagesKey()}`,
}

const has = (program) =>
  `${process.env.PATH ?? ''}:/usr/sbin:/sbin`
    .split(':')
    .some((one) => fs.existsSync(path.join(one, program)))

/**
 * Runs a program and passes its output to `say`; rejects with the end of that output.
 * @param limit seconds after which it is ended with everything that it started; undefined: no limit
 */
function tell({ say, limit }, file, args, env = {}) {
  return new Promise((resolve, reject) => {
    const path_ = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`
    const whole = limit === undefined ? [file, ...args] : ['timeout', '-k10', limit, file, ...args]
    const child = spawn(whole[0], whole.slice(1).map(String), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: path_, ...env },
    })
    let last = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        last = (last + String(chunk)).slice(-2_000)
        say(String(chunk))
      })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      // The exit codes of timeout(1).
      else if (limit !== undefined && [124, 137].includes(code))
        reject(new Error(`${last}\n${file} took longer than ${limit} s`))
      else reject(new Error(`${file} ended with ${code}: ${last}`))
    })
  })
}

/** Makes a Debian base image without a registry. */
async function makeBase(docker, how) {
  if (!has('debootstrap'))
    throw new Error(
      'There is no base image and no debootstrap: install debootstrap (apt-get install ' +
        'debootstrap), or name an image that this engine can pull in BASE_IMAGE.',
    )
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-debian-'))
  try {
    const [root, tar] = [path.join(scratch, 'root'), path.join(scratch, 'root.tar')]
    const include = '--include=ca-certificates'
    await tell(how, 'debootstrap', ['--variant=minbase', include, release, root, mirror])
    // Files that apt has downloaded are not needed in the image.
    for (const name of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale'])
      fs.rmSync(path.join(root, name), { recursive: true, force: true })
    fs.mkdirSync(path.join(root, 'var/cache/apt/archives/partial'), { recursive: true })
    fs.mkdirSync(path.join(root, 'var/lib/apt/lists/partial'), { recursive: true })
    await tell(how, 'tar', ['-C', root, '--numeric-owner', '-cf', tar, '.'])
    await docker('import', '-c', 'CMD ["bash"]', tar, ownBase)
  } finally {
    // An interrupted run leaves these mounted.
    for (const name of ['proc', 'sys'])
      await run('umount', ['-l', path.join(scratch, 'root', name)]).catch(() => {})
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * Makes the images that are not there yet.
 * @param {{socketPath?: string, baseImage?: string, say: (text: string) => void, limit?: number,
 * isUpdate?: boolean}} parts `socketPath`: of the engine; the usual one when not given; `limit`: of
 * each step, seconds; `isUpdate`: those that are there are made anew, under the same names
 */
export async function buildImages({ socketPath, baseImage, say, limit, isUpdate = false }) {
  const how = { say, limit }
  if (!has('docker')) throw new Error('There is no docker here: apt-get install docker.io')
  const host = socketPath === undefined ? [] : ['-H', `unix://${socketPath}`]
  const docker = async (...args) => (await run('docker', [...host, ...args])).stdout
  const exists = (image) =>
    docker('image', 'inspect', image).then(
      () => true,
      () => false,
    )
  await docker('version').catch((error) => {
    throw new Error(`The container engine does not answer: ${error.stderr ?? error.message}`)
  })
  const missing = []
  for (const part of parts) if (isUpdate || !(await exists(imageNames[part]))) missing.push(part)
  const needsBase = missing.length > 0 && baseImage === undefined
  if (needsBase && (isUpdate || !(await exists(ownBase)))) await makeBase(docker, how)
  for (const part of missing) {
    const name = imageNames[part]
    // Uses the host's network, so that packages are downloaded as on this machine.
    const anew = isUpdate ? ['--no-cache', ...(baseImage === undefined ? [] : ['--pull'])] : []
    const args = ['build', ...anew, '--network', 'host', '-t', name, '--build-arg']
    const from = `BASE_IMAGE=${baseImage ?? ownBase}`
    await tell(how, 'docker', [...host, ...args, from, path.join(folder, part)], {
      DOCKER_BUILDKIT: '0',
    })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { values } = parseArgs({ options: { update: { type: 'boolean', default: false } } })
    await buildImages({
      isUpdate: values.update,
      socketPath: process.env.DOCKER_SOCKET,
      baseImage: process.env.BASE_IMAGE,
      say: (text) => process.stderr.write(text),
    })
    for (const name of Object.values(imageNames)) console.log(name)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

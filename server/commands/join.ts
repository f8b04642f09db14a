import { spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { parseEnv } from 'node:util'
import type { Config } from '../config.ts'
import { envFileOf } from '../env-file.ts'
import { releaseRoot } from '../programs.ts'
import { joinRequest, openSettings } from '../wordpress/index.ts'
import type { Output } from './output.ts'

const usage = 'npm run portal -- join <address of the portal> <name of the node> [--no-start]'
const answerMs = 15_000

/** Reads the first line of standard input; a terminal does not show it. */
function readKey(): Promise<string> {
  const { stdin, stdout } = process
  return new Promise((resolve) => {
    if (!stdin.isTTY) {
      const lines = createInterface({ input: stdin })
      lines.once('line', (line) => {
        resolve(line.trim())
        lines.close()
      })
      lines.once('close', () => resolve(''))
      return
    }
    stdout.write('Join key (it is not shown): ')
    stdin.setRawMode(true)
    let key = ''
    const take = (chunk: Buffer): void => {
      for (const letter of chunk.toString('utf8'))
        if (letter === '\r' || letter === '\n') {
          stdin.setRawMode(false)
          stdin.off('data', take)
          stdin.pause()
          stdout.write('\n')
          return resolve(key.trim())
        } else if (letter === '\u0003') process.exit(130)
        else if (letter === '\u007F') key = key.slice(0, -1)
        else key += letter
    }
    stdin.on('data', take)
  })
}

async function ask(address: string, body: object): Promise<string | undefined> {
  const answer = await fetch(new URL('/api/nodes/join', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerMs),
  })
  if (answer.status !== 200) return undefined
  return ((await answer.json()) as { result: { sealed: string } }).result.sealed
}

/**
 * Settings of this machine that contradict a node called `name`; other differences are known only
 * after the portal's answer.
 */
function settledIn(file: string, name: string): string[] {
  const there = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
  const wanted: Readonly<Record<string, string | undefined>> = {
    ROLES: 'node',
    NODE_NAME: name,
    // The value that every portal gives its nodes.
    HOST: '0.0.0.0',
    DATABASE_URL: undefined,
  }
  return Object.keys(wanted).filter((one) => there[one] !== undefined && there[one] !== wanted[one])
}

/** Ensures that lines can be added, and that other users cannot read them. Throws otherwise. */
function prepare(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  // The file will contain the line's key. If besides the owner only a group can read it, that group
  // is the service's: keep it.
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o007) !== 0) chmodSync(file, 0o600)
}

/** Adds lines to this machine's settings; answers those that already have a different value. */
function addTo(file: string, variables: Readonly<Record<string, string>>): string[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const there = parseEnv(text)
  const others = Object.keys(variables).filter(
    (name) => there[name] !== undefined && there[name] !== variables[name],
  )
  if (others.length > 0) return others
  const lines = Object.entries(variables)
    .filter(([name]) => there[name] === undefined)
    .map(([name, value]) => `${name}=${value}\n`)
  const gap = text === '' || text.endsWith('\n') ? '' : '\n'
  // Rewrite the same file, so that its owner stays: the service may run as another user.
  writeFileSync(file, text + gap + lines.join(''))
  return []
}

/** Runs `npm start` until it ends. */
function start(): Promise<number> {
  const child = spawn(process.execPath, [path.join(releaseRoot, 'scripts', 'start.mjs')], {
    cwd: releaseRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

/**
 * `join`: makes this machine a node of a portal, with the key that `node add` printed there, and
 * starts it. The key is read from standard input, so that no list of processes shows it.
 */
export async function joinCommand(
  _config: Config,
  _databaseUrl: string,
  given: readonly string[],
  out: Output,
): Promise<number> {
  const options = given.filter((one) => one !== '--no-start')
  const [address = '', name = '', ...more] = options
  if (!URL.canParse(address) || name === '' || more.length > 0) {
    out.refuse(usage)
    return 64
  }
  const file = envFileOf(process.env)
  const refuseSettled = (others: readonly string[]): number => {
    out.refuse(`${file} says otherwise of ${others.join(', ')}: this machine is set up already.`)
    return 1
  }
  // A key works once: check everything that could be refused later before it is used.
  const settled = settledIn(file, name)
  if (settled.length > 0) return refuseSettled(settled)
  try {
    prepare(file)
  } catch (error) {
    out.refuse(
      `${file} cannot be written (${(error as Error).message}). The portal was not asked, and ` +
        'the key is not used: run the command as the owner of that file.',
    )
    return 1
  }
  const key = await readKey()
  const asked = joinRequest(key, name)
  const sealed = await ask(address, asked)
  if (sealed === undefined) {
    out.refuse(
      `The portal at ${address} does not take this key: it works once, for an hour, and for the ` +
        'node that it was made for. "npm run portal -- node add" there makes another one.',
    )
    return 1
  }
  const { variables } = openSettings(key, asked, sealed)
  const others = addTo(file, variables)
  if (others.length > 0) return refuseSettled(others)
  out.line(`This machine is the node ${name}. Its settings are in ${file}.`)
  out.fields({ node: name, file })
  if (given.includes('--no-start')) {
    out.line('Start it with npm start, or as a service (docs/operate.md).')
    return 0
  }
  return await start()
}

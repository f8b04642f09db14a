/**
 * The engine's own HTTP interface, as far as it is needed here, over its socket. Docker Engine API,
 * version 1.41 or the oldest that the engine still speaks, where that is newer: each engine refuses
 * what is older (docs.docker.com/reference/api/engine). Podman's is the same.
 */
import http from 'node:http'

/** Of version 1: what is asked for here stands in it. */
const leastMinor = 41
const answerMs = 120_000
const mostBytes = 8 * 1_048_576

/** The engine says no, or nothing. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  /** Of its answer; 0: none came. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Method = 'GET' | 'POST' | 'DELETE'

export interface EngineApi {
  /**
   * Its answer, null where that is empty. Rejects with EngineError.
   * @param waits for as long as it takes, as for the end of a container
   */
  call(
    method: Method,
    path: string,
    more?: { readonly body?: object; readonly waits?: boolean },
  ): Promise<unknown>
  /** What it answers, as text. */
  text(path: string): Promise<string>
  /** Ends what is waited for. */
  close(): void
}

/** @param socketPath of the engine */
export function engineApi(socketPath: string): EngineApi {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  const waiting = new Set<http.ClientRequest>()

  function ask(
    method: Method,
    path: string,
    body: object | undefined,
    waits: boolean,
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const call = http.request(
        {
          socketPath,
          method,
          path,
          agent: waits ? false : agent,
          headers: {
            host: 'engine',
            'content-length': Buffer.byteLength(text),
            ...(text !== '' && { 'content-type': 'application/json' }),
          },
        },
        (answer) => {
          const chunks: Buffer[] = []
          let bytes = 0
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes > mostBytes) call.destroy(new Error('the engine answers too much'))
            else chunks.push(chunk)
          })
          answer.on('error', reject)
          answer.on('end', () => {
            const whole = Buffer.concat(chunks)
            const status = answer.statusCode ?? 0
            if (status < 400) resolve(whole)
            else reject(new EngineError(status, messageIn(whole)))
          })
        },
      )
      call.on('error', (error) => reject(new EngineError(0, error.message)))
      if (waits) {
        waiting.add(call)
        call.on('close', () => waiting.delete(call))
      } else call.setTimeout(answerMs, () => call.destroy(new Error('the engine does not answer')))
      call.end(text)
    })
  }

  let agreed: Promise<string> | undefined
  /** What each path begins with. An engine that was replaced meanwhile has been asked again. */
  async function agree(): Promise<string> {
    const said = (await ask('GET', '/version', undefined, false)).toString('utf8')
    return `/v1.${minorOf(JSON.parse(said) as EngineVersions)}`
  }
  async function askVersion(
    method: Method,
    path: string,
    body: object | undefined,
    waits: boolean,
  ): Promise<Buffer> {
    try {
      return await ask(method, (await (agreed ??= agree())) + path, body, waits)
    } catch (error) {
      // Whatever it was, what answers next may be another release of it: one more question.
      agreed = undefined
      throw error
    }
  }

  return {
    async call(method, path, { body, waits = false } = {}) {
      const said = (await askVersion(method, path, body, waits)).toString('utf8')
      return said.trim() === '' ? null : (JSON.parse(said) as unknown)
    },
    async text(path) {
      return (await askVersion('GET', path, undefined, false)).toString('utf8')
    },
    close() {
      for (const call of waiting) call.destroy()
      agent.destroy()
    },
  }
}

interface EngineVersions {
  readonly ApiVersion?: string
  readonly MinAPIVersion?: string
}

/**
 * The minor version of the interface to speak with an engine that says this of itself. Throws
 * EngineError where there is none.
 */
export function minorOf({ ApiVersion, MinAPIVersion }: EngineVersions): number {
  const of = (version: string | undefined): number =>
    Number(/^1\.(\d+)$/.exec(version ?? '')?.[1] ?? Number.NaN)
  const [newest, oldest] = [of(ApiVersion), of(MinAPIVersion ?? '1.0')]
  if (newest >= leastMinor && oldest <= newest) return Math.max(leastMinor, oldest)
  throw new EngineError(
    0,
    `the engine speaks versions ${MinAPIVersion ?? '?'} to ${ApiVersion ?? '?'} of its API, ` +
      `and 1.${leastMinor} or newer is needed`,
  )
}

function messageIn(said: Buffer): string {
  const text = said.toString('utf8').slice(0, 500)
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text
  } catch {
    return text
  }
}

/**
 * The part of the engine's HTTP interface that is needed here, over its socket: Docker Engine API,
 * version 1.41. An engine that no longer speaks it is asked in its oldest version
 * (docs.docker.com/reference/api/engine). Podman's interface is the same.
 */
import http from 'node:http'

/** The minor version, of version 1, that has everything which is asked for here. */
const leastMinor = 41
const answerMs = 120_000
const mostBytes = 8 * 1_048_576

/** The engine refused, or did not answer. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  /** The HTTP status of its answer; 0: no answer came. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Method = 'GET' | 'POST' | 'DELETE'

export interface EngineApi {
  /**
   * The engine's answer; null where it is empty. Rejects with EngineError.
   * @param waits without a time limit, as for the end of a container
   */
  call(
    method: Method,
    path: string,
    more?: { readonly body?: object; readonly waits?: boolean },
  ): Promise<unknown>
  /** The engine's answer as text. */
  text(path: string): Promise<string>
  /** Ends all pending calls. */
  close(): void
}

/** @param socketPath the engine's socket */
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
  /**
   * The prefix of each path, by the engine's version. It is asked again after each failure, since
   * the engine may have been replaced.
   */
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
      // Whatever failed, the next answer may come from another release of the engine: its version
      // is asked again.
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
 * The minor version of the interface to use with an engine that reports these versions. Throws
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

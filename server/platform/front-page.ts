/** Asks a web server for its front page under a host name, as a visitor's browser would. */
import { request } from 'node:http'
import { DriverFailure } from './errors.ts'

interface Address {
  readonly host: string
  readonly port: number
}

/** Time limit: a visitor does not wait longer for a page, ms. */
const longestMs = 30_000

/** The status of the page. Rejects with DriverFailure unavailable, which says why there is none. */
export async function frontPageStatus(at: Address | undefined, hostName: string): Promise<number> {
  if (!at) throw new DriverFailure('unavailable', 'no container answers')
  try {
    return await ask(at, hostName)
  } catch (error) {
    throw new DriverFailure('unavailable', `the front page ${(error as Error).message}`, {
      cause: error,
    })
  }
}

const ask = (at: Address, hostName: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const call = request(
      {
        host: at.host,
        port: at.port,
        path: '/',
        headers: { host: hostName },
        agent: false,
        timeout: longestMs,
      },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
        answer.on('error', reject)
      },
    )
    call.on('timeout', () => call.destroy(new Error(`does not answer in ${longestMs / 1000} s`)))
    call.on('error', reject)
    call.end()
  })

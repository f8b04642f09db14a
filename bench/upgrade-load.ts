/** The load during an upgrade of a portal, and its failures. */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { dig } from '../test/dig.ts'
import { report, type Addresses } from './portal.ts'

/**
 * Calls `act` at this interval until it is stopped; returns the number of calls and the failures.
 */
function over(everyMs: number, act: () => Promise<string | undefined>) {
  let going = true
  let made = 0
  const began = performance.now()
  const failed: string[] = []
  const inFlight = new Set<Promise<void>>()
  const all = (async () => {
    while (going) {
      made++
      const madeAt = ((performance.now() - began) / 1000).toFixed(1)
      const one = act()
        .catch((error: unknown) => (error as Error).message)
        .then((fault) => {
          inFlight.delete(one)
          if (fault !== undefined) failed.push(`${fault} (asked after ${madeAt} s)`)
        })
      inFlight.add(one)
      await pause(everyMs)
    }
    await Promise.all(inFlight)
  })()
  return async (): Promise<{ made: number; failed: string[] }> => {
    going = false
    await all
    return { made, failed }
  }
}

const statusOf = (url: string, options: http.RequestOptions): Promise<string | undefined> =>
  new Promise((resolve) => {
    http
      .get(url, options, (answer) => {
        const { statusCode } = answer
        answer
          .resume()
          .once('end', () => resolve(statusCode === 200 ? undefined : String(statusCode)))
      })
      .once('error', (error) => resolve(error.message))
  })

/**
 * Makes calls, visits to the site and DNS queries until the returned function is called, which
 * reports how many failed.
 */
export function load(portal: Addresses, token: string, host: string): () => Promise<void> {
  const kept = new http.Agent({ keepAlive: true, maxSockets: 8 })
  let turn = 0
  const loads = {
    'calls of the API, 50 a second': over(20, () => {
      turn++
      const signedIn = turn % 5 === 0
      return statusOf(`${portal.url}${signedIn ? '/api/wp' : '/api/config'}`, {
        agent: turn % 2 === 0 ? kept : false,
        ...(signedIn && { headers: { authorization: `Bearer ${token}` } }),
      })
    }),
    'files of a site, 5 a second': over(200, () =>
      statusOf(`http://127.0.0.1:${portal.sitesPort}/wp-includes/css/buttons.min.css`, {
        headers: { host },
        agent: false,
      }),
    ),
    // One at a time, which PHP of the smallest plan can always answer.
    'pages of a site, one in 2 s': over(2_000, () =>
      statusOf(`http://127.0.0.1:${portal.sitesPort}/wp-login.php`, {
        headers: { host },
        agent: false,
      }),
    ),
    'DNS queries, 4 a second': over(250, async () => {
      const { rcode } = await dig(portal.dnsPort, {
        name: 'ns1.letspanel-dns.example',
        type: 'A',
      })
      return rcode === 'NOERROR' ? undefined : rcode
    }),
  }
  return async (): Promise<void> => {
    for (const [name, stop] of Object.entries(loads)) {
      const { made, failed } = await stop()
      report(`${name}: ${made} made, failed`, failed.length, 0, '')
      if (failed.length > 0) console.log(`      ${failed.slice(0, 12).join(', ')}`)
    }
    kept.destroy()
  }
}

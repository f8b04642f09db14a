/**
 * Measures what other customers notice while one, or a caller without an account, sends many
 * expensive requests at once: writes on a server that does not exist, wrong sign-ins from many
 * addresses, orders.
 */
import { serverProgram } from '../scripts/bootstrap.mjs'
import { call, report, signIn, startPortal, type BenchPortal } from './portal.ts'

const limitMs = 500
const everyMs = 20
/** A storm lasts half a second, so this many rounds and neighbours are needed for a p95. */
const rounds = 8
const neighbours = 4

interface Load {
  readonly name: string
  readonly calls: number
  readonly one: (n: number, round: number) => Promise<Response>
}

/** Another customer, registered with the code from the sandbox's inbox. */
async function newcomer(portal: BenchPortal, number: number): Promise<string> {
  const [email, phone] = [`storm${number}@example.vn`, `+8491100099${number}`]
  const password = 'Correct-horse-9'
  await call(portal, 'POST', '/api/v1/auth/register', undefined, {
    name: 'Storm',
    email,
    phone,
    password,
    region_code: 'VN',
  })
  let code: string | undefined
  while (code === undefined) {
    const letters = (await (
      await fetch(`${portal.sandboxUrl}/inbox.json?to=${encodeURIComponent(phone)}`)
    ).json()) as { text: string }[]
    code = /\b\d{6}\b/.exec(letters[0]?.text ?? '')?.[0]
  }
  await call(portal, 'POST', '/api/v1/auth/active', undefined, { email, code })
  const { token } = await call<{ token: { accessToken: string } }>(
    portal,
    'POST',
    '/api/v1/auth/login',
    undefined,
    { email, password },
  )
  return token.accessToken
}

const portal = await startPortal({
  command: [
    'env',
    'TRUST_PROXY=on',
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    serverProgram('main'),
  ],
})
try {
  const quiet = await signIn(portal)
  // A new customer for each round, so that no rate limit of an earlier round affects later ones.
  const loud: string[] = []
  for (let round = 0; round < rounds; round++) loud.push(await newcomer(portal, round))
  const as = (token: string) => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  })
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  const loads: readonly Load[] = [
    {
      name: '60 parallel writes on a server that does not exist',
      calls: 60,
      one: (_, round) =>
        fetch(`${portal.url}/api/wp/${crypto.randomUUID()}`, {
          method: 'DELETE',
          headers: as(loud[round]!),
        }),
    },
    {
      name: '150 wrong sign-ins at once, each from an address of its own',
      calls: 150,
      one: (n, round) =>
        fetch(`${portal.url}/api/v1/auth/login`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-forwarded-for': `198.51.${100 + round}.${n}`,
          },
          body: JSON.stringify({
            email: `nobody${n}.${round}@example.vn`,
            password: 'Wrong-password-9',
          }),
        }),
    },
    {
      name: '300 orders with an empty wallet',
      calls: 300,
      one: (_, round) =>
        fetch(`${portal.url}/api/wp`, {
          method: 'POST',
          headers: as(loud[round]!),
          body: JSON.stringify(order),
        }),
    },
  ]
  for (const { name, calls, one } of loads) {
    const times: number[] = []
    let failed = 0
    let over = false
    const neighbour = async (): Promise<void> => {
      while (!over) {
        const began = performance.now()
        const answer = await fetch(`${portal.url}/api/v1/auth/me`, { headers: as(quiet) })
        await answer.arrayBuffer()
        times.push(performance.now() - began)
        if (!answer.ok) failed += 1
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
    }
    const statuses = new Map<number, number>()
    for (let round = 0; round < rounds; round++) {
      over = false
      const calling = Array.from({ length: neighbours }, neighbour)
      await Promise.all(
        Array.from({ length: calls }, async (_, n) => {
          const answer = await one(n, round)
          await answer.arrayBuffer()
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        }),
      )
      over = true
      await Promise.all(calling)
    }
    const sorted = times.toSorted((a, b) => a - b)
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0
    report(`${rounds} times ${name}: another customer's calls, p95`, p95, limitMs, 'ms')
    report(`  of them refused or failed, of ${times.length} calls`, failed, 0, 'calls')
    process.stdout.write(
      '  answers of the storm: ' +
        `${[...statuses].map(([status, n]) => `${n} x ${status}`).join(', ')}\n`,
    )
  }
} finally {
  await portal.stop()
}

/**
 * Two portals and three nodes behind one address, as on four machines: the first has the database,
 * the name server and a node beside its portal, the second only a portal, and two have only sites.
 */
import { readFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { eventually, freePort } from './portal.ts'
import { PortalProcess } from './portal-process.ts'

/**
 * A load balancer for several portals: connections go to each in turn, and to the other one if a
 * portal does not listen.
 */
function balance(ports: readonly number[]): net.Server {
  let turn = 0
  return net.createServer((client) => {
    const order = ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0)
    turn++
    client.on('error', () => client.destroy())
    const connect = (left: readonly number[]): void => {
      const [port, ...others] = left
      if (port === undefined) return void client.destroy()
      const upstream = net.connect(port, '127.0.0.1')
      let reached = false
      upstream.once('connect', () => {
        reached = true
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => {
        if (reached) client.destroy()
        else connect(others)
      })
      upstream.once('close', () => reached && client.destroy())
      client.once('close', () => upstream.destroy())
    }
    connect(order)
  })
}

const portOf = (url: string): number => Number(new URL(url).port)

export interface Machines {
  readonly first: PortalProcess
  readonly second: PortalProcess
  /** Nodes of the data centres 1 and 4. */
  readonly hanoi: PortalProcess
  readonly sydney: PortalProcess
  /** The balancer's address, in front of both portals. */
  readonly address: string
  start(one: PortalProcess): Promise<void>
  close(): Promise<void>
}

/**
 * Resolves when all are ready.
 * @param options `release`: the folder whose code they run, this one by default; `more`: settings
 * of both portals; `prepare`: called for each one's folder while it is still empty
 */
export async function openMachines(
  options: {
    release?: string
    more?: Record<string, string>
    prepare?: (dataDir: string) => void
  } = {},
): Promise<Machines> {
  const create = async (): Promise<PortalProcess> => {
    const one = await PortalProcess.create()
    options.prepare?.(one.dataDir)
    one.write('')
    if (options.release !== undefined) one.release = options.release
    return one
  }
  const first = await create()
  const second = await create()
  const balancer = balance([portOf(first.url), portOf(second.url)]).listen(0, '127.0.0.1')
  await new Promise((resolve) => balancer.once('listening', resolve))
  const address = `http://127.0.0.1:${(balancer.address() as net.AddressInfo).port}`
  const line = `127.0.0.1:${await freePort()}`
  const settings = new Map<PortalProcess, Record<string, string>>([
    [
      first,
      {
        ...options.more,
        PORTAL_URL: address,
        NODE_LISTEN: line,
        NODE_REGIONS: '2,3',
        NODE_SITES_ADDRESS: `127.0.0.1:${first.sitesPort}`,
      },
    ],
  ])
  const start = (one: PortalProcess): Promise<void> => one.start(settings.get(one))

  async function node(name: string, regions: string): Promise<PortalProcess> {
    const machine = await create()
    const nodeLine = `127.0.0.1:${await freePort()}`
    const sites = `127.0.0.1:${machine.sitesPort}`
    const told = await first.command(
      'node',
      {},
      `add ${name} ${nodeLine} --regions ${regions} --sites ${sites} --json`.split(' '),
    )
    const { key } = JSON.parse(told.said) as { key: string }
    settings.set(machine, {
      ROLES: 'node',
      NODE_NAME: name,
      NODE_LISTEN: nodeLine,
      NODE_KEY: key,
    })
    return machine
  }

  await start(first)
  const { said } = await first.command('node', {}, ['key', 'main', '--json'])
  settings.set(second, {
    ...options.more,
    ROLES: 'api,worker',
    PORTAL_URL: address,
    DATABASE_URL: await first.database(),
    PORTAL_SECRET: readFileSync(path.join(first.dataDir, 'secret'), 'utf8').trim(),
    NAME_SERVER_ADDRESS: line,
    NAME_SERVER_KEY: (JSON.parse(said) as { key: string }).key,
  })
  const hanoi = await node('hanoi', '1')
  const sydney = await node('sydney', '4')
  await Promise.all([second, hanoi, sydney].map(start))
  await eventually('three nodes', async () => (await first.command('node')).code === 0, 60)
  return {
    first,
    second,
    hanoi,
    sydney,
    address,
    start,
    async close() {
      balancer.close()
      for (const one of [second, hanoi, sydney, first]) {
        if (one.pid !== 0) await one.kill('database')
        one.discard()
      }
    },
  }
}

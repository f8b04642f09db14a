/**
 * A registry and its registrar: the root of the DNS, every ending, and a counter where a person
 * sets name servers.
 *
 * For a program in place of a person:
 *   GET /registry.json [{name, nameservers, ds}], newest first POST /registry.json {name,
 *   nameservers: [...], ds?: ["keytag algorithm digesttype digest", ...]}: registers or changes
 *   DELETE /registry.json?name=shop.vn gives it back
 * The name server listens on UDP and TCP. A name server's address is always this machine's, since
 * glue carries no port.
 */
import type { Database } from '../database.ts'
import { formOf, json, redirect, type Call, type Reply, type Routes } from '../http.ts'
import { registryAnswer } from './answers.ts'
import { openNameServer, type NameServer } from '../name-server.ts'
import { drop, find, latest, readRegistration, register } from './names.ts'
import { registryPage } from './page.ts'

export { registryTable } from './names.ts'

const words = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== '')

/** Starts the registry's name server. */
export const openRegistryServer = (options: {
  db: Database
  host: string
  port: number
  log: (line: string) => void
}): Promise<NameServer> =>
  openNameServer({
    host: options.host,
    port: options.port,
    log: options.log,
    answer: (question) =>
      registryAnswer(question, (name) => find(options.db, name), {
        own: options.host,
        registered: '127.0.0.1',
      }),
  })

export function registryRoutes(db: Database): Routes {
  async function save(call: Call): Promise<Reply> {
    let body: unknown
    try {
      body = JSON.parse(call.body.toString('utf8'))
    } catch {
      return json({ error: 'The body is not JSON' }, 400)
    }
    if (typeof body !== 'object' || body === null)
      return json({ error: 'The body is no object' }, 400)
    const read = readRegistration({ name: undefined, nameservers: undefined, ...body })
    if ('error' in read) return json(read, 422)
    await register(db, read)
    return json(read)
  }
  async function counter(call: Call): Promise<Reply> {
    const form = formOf(call)
    const filled = {
      name: form.get('name') ?? '',
      nameservers: form.get('nameservers') ?? '',
      ds: form.get('ds') ?? '',
    }
    if (form.get('act') === 'drop') {
      await drop(db, filled.name)
      return redirect('/registry')
    }
    if (form.get('act') === 'edit')
      return redirect(`/registry?name=${encodeURIComponent(filled.name)}`)
    const ds = filled.ds.trim()
    const read = readRegistration({
      name: filled.name,
      nameservers: words(filled.nameservers),
      ds: ds === '' ? [] : [ds],
    })
    if ('error' in read) return registryPage(await latest(db), filled, read.error)
    await register(db, read)
    return redirect('/registry')
  }
  return {
    'GET /registry': async ({ query }) => {
      const name = query.get('name') ?? ''
      const known = name === '' ? undefined : await find(db, name)
      const filled = {
        name,
        nameservers: known?.nameservers.join(' ') ?? query.get('nameservers') ?? '',
        ds: known?.ds[0] ?? '',
      }
      return registryPage(await latest(db), filled)
    },
    'POST /registry': counter,
    'GET /registry.json': async () => json(await latest(db)),
    'POST /registry.json': save,
    'DELETE /registry.json': async ({ query }) =>
      (await drop(db, query.get('name') ?? ''))
        ? json({})
        : json({ error: 'This name is not registered' }, 404),
  }
}

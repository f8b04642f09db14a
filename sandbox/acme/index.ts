/**
 * Two certificate authorities that speak ACME (RFC 8555, renewal information by RFC 9773) and check
 * whether the client controls the name. The second one requires an external account. Their
 * certificates are real, but only those who import their roots trust them.
 *
 * For programs, per authority (`first`, `second`):
 *   GET  /acme/first/directory       where an ACME client begins
 *   GET  /acme/first/root.pem        the root that a browser must trust
 *   GET  /acme/first/state.json      its behaviour, and issued certificates, newest first
 *   POST /acme/first/state.json      changes its behaviour (behaviour.ts)
 *   POST /acme/first/revoke.json     {name}: revokes every certificate of it
 * A mode is one of: well; down (every call answers 503); slow (each answer waits slowMs); refuses
 * (no order is accepted); stuck (an order stays in processing).
 */
import type { Database } from '../database.ts'
import { formOf, json, type Call, type Reply, type Routes } from '../http.ts'
import { authorityRoutes, type OpenAuthority } from './authority-routes.ts'
import { openAuthority } from './authority.ts'
import { modes, readBehaviour, well } from './behaviour.ts'
import { acmePage, changed } from './page.ts'
import type { Validation } from './validate.ts'

export { authorityTable } from './authority.ts'

export interface AcmeOptions extends Validation {
  /** The external account's key at the second authority; the key is base64url. */
  readonly binding: { readonly keyId: string; readonly hmacKey: string }
}

const names = { first: 'Sandbox CA', second: 'Sandbox CA Two' } as const

/** `url`: the sandbox's own address, known once it listens. */
export async function acmeRoutes(
  db: Database,
  options: AcmeOptions,
  url: () => string,
): Promise<Routes> {
  const opened: OpenAuthority[] = []
  for (const [id, name] of Object.entries(names))
    opened.push({
      id,
      name,
      authority: await openAuthority(db, name),
      behaviour: well,
      issued: [],
      binding: id === 'second' ? options.binding : undefined,
    })

  const state = (of: OpenAuthority): Reply =>
    json({
      ...of.behaviour,
      issued: of.issued.map(({ names, at, chain, replaces, revoked }) => ({
        names,
        at,
        chain,
        replaces: replaces ?? null,
        revoked,
      })),
    })
  const bodyOf = (call: Call): unknown => {
    try {
      return JSON.parse(call.body.toString('utf8'))
    } catch {
      return undefined
    }
  }
  const controls = (of: OpenAuthority): Routes => ({
    [`GET /acme/${of.id}/root.pem`]: () => ({
      status: 200,
      headers: { 'content-type': 'application/x-pem-file' },
      body: of.authority.root,
    }),
    [`GET /acme/${of.id}/state.json`]: () => state(of),
    [`POST /acme/${of.id}/state.json`]: (call) => {
      const read = readBehaviour(of.behaviour, bodyOf(call))
      if ('error' in read) return json(read, 422)
      of.behaviour = read
      return state(of)
    },
    [`POST /acme/${of.id}/revoke.json`]: (call) => {
      const { name } = (bodyOf(call) ?? {}) as { name?: unknown }
      for (const one of of.issued) if (one.names.includes(String(name))) one.revoked = true
      return state(of)
    },
  })

  return {
    'GET /acme': () => acmePage(opened),
    'POST /acme': (call) => {
      const form = formOf(call)
      const of = opened.find(({ id }) => id === form.get('authority'))
      const mode = modes.find((one) => one === form.get('mode'))
      if (of && mode) of.behaviour = { ...of.behaviour, mode }
      const one = of?.issued.find(({ id }) => id === form.get('certificate'))
      if (one && form.get('act') === 'revoke') one.revoked = true
      return changed()
    },
    ...Object.assign(
      {},
      ...opened.map((of) => ({
        ...controls(of),
        ...authorityRoutes(db, of, options, () => `${url()}/acme/${of.id}`),
      })),
    ),
  }
}

/** The node of this machine, and the keys of nodes on others. */
import type { Config } from './config.ts'
import type { NodeSettings } from '../contract/nodes.ts'
import type { Drivers } from './drivers.ts'
import type { Clock } from './platform/clock.ts'
import type { Tx } from './platform/db.ts'
import type { Secrets } from './platform/secrets.ts'
import { makeJoinKey, type NodeControl, type NodeEntry } from './wordpress/index.ts'

/** A node's NODE_KEY. The keys are independent: a stolen one opens no other node. */
export const nodeKey = (secrets: Pick<Secrets, 'derive'>, id: string): string =>
  secrets.derive(`node-line:${id}`)

/** The keys that a node is started with. */
export const nodeKeysOf = (needs: { readonly secrets: Secrets; readonly clock: Clock }) => ({
  line: (node: string) => nodeKey(needs.secrets, node),
  join: (tx: Tx, node: string) => makeJoinKey(tx, needs, node),
})

/** The settings of a node of this portal on its own machine. */
export function nodeSettings(
  config: Pick<
    Config,
    'SITES_DOMAIN' | 'SITES_PORT' | 'SITES_TLS_PORT' | 'WORDPRESS_RUNTIME' | 'sandbox'
  >,
  secrets: Pick<Secrets, 'derive'>,
  id: string,
  address: string,
): NodeSettings {
  return {
    variables: {
      ROLES: 'node',
      NODE_NAME: id,
      NODE_LISTEN: address,
      NODE_KEY: nodeKey(secrets, id),
      HOST: '0.0.0.0',
      SITES_PORT: String(config.SITES_PORT),
      ...(config.SITES_DOMAIN !== undefined && { SITES_DOMAIN: config.SITES_DOMAIN }),
      ...(config.SITES_TLS_PORT !== undefined && {
        SITES_TLS_PORT: String(config.SITES_TLS_PORT),
      }),
      // A node has none of its own, and would refuse one at this HOST.
      ...(config.sandbox ? { SANDBOX: 'off' } : { NODE_ENV: 'production' }),
    },
  }
}

/** Null where this machine runs no sites. */
export function ownNodeOf(
  config: Pick<
    Config,
    'NODE_NAME' | 'NODE_ADDRESS' | 'NODE_LISTEN' | 'NODE_SITES_ADDRESS' | 'NODE_REGIONS'
  >,
  { wordpress, edge }: Pick<Drivers, 'wordpress' | 'edge'>,
): { readonly entry: NodeEntry; readonly control: NodeControl } | null {
  if (!wordpress || !edge) return null
  return {
    entry: {
      id: config.NODE_NAME,
      address: config.NODE_ADDRESS ?? config.NODE_LISTEN ?? null,
      sitesAddress: config.NODE_SITES_ADDRESS ?? null,
      regions: config.NODE_REGIONS,
    },
    control: { driver: wordpress, edge },
  }
}

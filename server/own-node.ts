/** The node of this machine, and the keys of nodes on others. */
import type { Config } from './config.ts'
import type { Drivers } from './drivers.ts'
import type { Secrets } from './platform/secrets.ts'
import type { NodeControl, NodeEntry } from './wordpress/index.ts'

/** NODE_KEY of a node: one that is lost opens no other one. */
export const nodeKey = (secrets: Pick<Secrets, 'derive'>, id: string): string =>
  secrets.derive(`node-line:${id}`)

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

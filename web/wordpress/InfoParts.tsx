import type { Server } from '../../contract/wordpress.ts'
import type { Kind } from './queries.ts'
import { SiteActions } from './SiteActions.tsx'
import { SubscriptionPanel } from './SubscriptionPanel.tsx'
import { UsageFacts } from './UsageFacts.tsx'

/** The parts below a server's facts, loaded after them. */
export default function InfoParts({ server, kind }: { server: Server; kind: Kind }) {
  return (
    <>
      {server.status === 'running' || server.status === 'suspended' ? (
        <UsageFacts server={server} />
      ) : null}
      {server.subscriptionId === null ? null : (
        <SubscriptionPanel id={server.subscriptionId} server={server} />
      )}
      <SiteActions server={server} kind={kind} />
    </>
  )
}

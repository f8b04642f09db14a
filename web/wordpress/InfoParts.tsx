import type { Server } from '../../contract/wordpress.ts'
import type { Kind } from './queries.ts'
import { SiteActions } from './SiteActions.tsx'
import { SubscriptionPanel } from './SubscriptionPanel.tsx'
import { UsageFacts } from './UsageFacts.tsx'

/** What stands below a server's facts, and comes when they are read already. */
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

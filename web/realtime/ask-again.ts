/**
 * Events about a server are pushed only to the customer's own tabs. A tab that shows another's
 * account polls instead: often while something is under way, and rarely otherwise.
 */
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { Server } from '../../contract/wordpress.ts'
import type { Page } from '../api.ts'
import { session } from '../session.ts'

const soonMs = 3_000
const seldomMs = 30_000

type Servers = Server | Page<Server[]> | InfiniteData<Page<Server[]>>
const serversOf = (read: Servers): readonly Server[] => {
  if ('pages' in read) return read.pages.flatMap(({ result }) => result)
  return 'result' in read ? read.result : [read]
}
const isChanging = ({ status, restarting }: Server): boolean =>
  restarting || status === 'provisioning' || status === 'deleting'

/** Polls the servers on the screen while the page exists. */
export function askForServers(queryClient: QueryClient): void {
  const queryKey = ['servers']
  let askedAt = Date.now()
  setInterval(() => {
    if (document.hidden || !session.signedIn()) return
    const shown = queryClient.getQueryCache().findAll({ queryKey, type: 'active' })
    const changes = shown.some(
      ({ state: { data } }) =>
        data !== undefined && serversOf(data as Servers).some((one) => isChanging(one)),
    )
    if (!changes && Date.now() - askedAt < seldomMs) return
    askedAt = Date.now()
    void queryClient.refetchQueries({ queryKey, type: 'active' }, { cancelRefetch: false })
  }, soonMs)
}

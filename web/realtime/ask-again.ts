/**
 * What happens to a server is pushed to its customer's own tabs. One that shows the account of
 * another hears nothing, so it asks: soon while something is on its way, and seldom otherwise.
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

/** Asks for the servers that are on the screen, for as long as the page stands. */
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

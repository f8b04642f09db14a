import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { openView } from '../../contract/operator-desk.ts'
import type { ViewOfTab } from '../view/view-of-tab.ts'
import { Note, SkeletonRows } from '../ui/State.tsx'
import { call, DeskError } from './api.ts'
import { useDeskTexts } from './language.ts'
import { createDeskQueries, sessionQuery } from './queries.ts'
import { LoneForm } from './SignInView.tsx'

/** Once: the ticket opens one view, however often this is drawn. */
let opening: Promise<null> | undefined

/**
 * Leads from the desk into a customer's portal. The token is kept in this tab alone, where a
 * customer's own would be; what the tab had of another session goes.
 */
async function enter(ticket: string): Promise<null> {
  // The tab that opened this one has no business in it.
  window.opener = null
  const member = await createDeskQueries().fetchQuery(sessionQuery)
  if (member === null) throw new DeskError('', 'unauthenticated', 401)
  const { token, expiresAt, customer } = await call(openView, { body: { ticket } })
  const view: ViewOfTab = { name: customer.name, expiresAt }
  sessionStorage.clear()
  sessionStorage.setItem('accessToken', token)
  sessionStorage.setItem('isLogin', '1')
  sessionStorage.setItem('view', JSON.stringify(view))
  location.replace('/')
  return null
}
/** Behind #, where no server's log has it; nor has the browser's history. */
const ticket = location.hash.slice(1)
// It has ended: what this tab had of it goes.
if (ticket === '' && sessionStorage.getItem('view') !== null) sessionStorage.clear()

/** `/see`: opens a view by its ticket, and is where one ends. */
export function SeeView() {
  const t = useDeskTexts()
  const { error } = useQuery({
    queryKey: ['view'],
    queryFn: () => {
      history.replaceState(null, '', location.pathname)
      return (opening ??= enter(ticket))
    },
    enabled: ticket !== '',
    retry: false,
  })
  const isAway = error instanceof DeskError && error.code === 'unauthenticated'
  return (
    <LoneForm title={t.view.title} sub={ticket === '' ? t.view.ended : t.view.opening}>
      {error ? (
        <Note tone="danger" role="alert">
          {isAway ? t.view.noSession : error.message}
        </Note>
      ) : null}
      {ticket !== '' && !error ? <SkeletonRows /> : null}
      {ticket === '' || error ? (
        <a
          href="/operator"
          className="inline-flex items-center gap-1.5 text-sm text-primary-ink hover:underline"
        >
          <ArrowLeft aria-hidden className="size-4" />
          {t.view.desk}
        </a>
      ) : null}
    </LoneForm>
  )
}

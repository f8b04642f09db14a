import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { openView } from '../../contract/operator-desk.ts'
import type { ViewOfTab } from '../view/view-of-tab.ts'
import { Note, SkeletonRows } from '../ui/State.tsx'
import { call, DeskError } from './api.ts'
import { useDeskTexts } from './language.ts'
import { createDeskQueries, sessionQuery } from './queries.ts'
import { LoneForm } from './SignInView.tsx'

/** Remembered across renderings: a ticket opens only one view. */
let opening: Promise<null> | undefined

/**
 * Opens a customer's portal from the desk. The token is kept only in this tab, where a customer's
 * own would be. Data of another session in this tab is removed.
 */
async function enter(ticket: string): Promise<null> {
  // The tab that opened this one must not reach it.
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
/**
 * The ticket stands after #, so no server logs it; it is also removed from the browser's history.
 */
const ticket = location.hash.slice(1)
// A view has ended: its data is removed from this tab.
if (ticket === '' && sessionStorage.getItem('view') !== null) sessionStorage.clear()

/** `/see` opens a view by its ticket, and is the page where a view ends. */
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

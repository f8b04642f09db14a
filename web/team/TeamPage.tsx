import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { brand } from '../brand.ts'
import type { LoadInput } from '../load-input.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Later } from '../ui/Later.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Note, Skeleton } from '../ui/State.tsx'
import { AccountsCard } from './AccountsCard.tsx'
import { endedKey } from './ended.ts'
import { InvitationsCard, MembersCard } from './MembersCard.tsx'
import { accountsQuery, teamQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** At the end of the page, and for who came by a letter. */
const ActsCard = lazy(() => loadWanted(() => import('./ActsCard.tsx')))
const InvitationNote = lazy(() => loadWanted(() => import('./InvitationNote.tsx')))
const OfferNote = lazy(() => loadWanted(() => import('./OfferNote.tsx')))
const HandOverCard = lazy(() => loadWanted(() => import('./HandOverCard.tsx')))

/** How the link of an offer begins behind #; that of an invitation is its token alone. */
const offerKey = 'offer='

export const load = ({ queryClient }: LoadInput) =>
  Promise.all([queryClient.prefetchQuery(teamQuery), queryClient.prefetchQuery(accountsQuery)])

/** Who works in this account, and where the customer works for others. */
export default function TeamPage() {
  const t = useTeamTexts()
  // The letter's link has it behind #, where no server's log has it.
  const [token, setToken] = useState(() => location.hash.slice(1))
  const [ended] = useState(() => sessionStorage.getItem(endedKey) !== null)
  useEffect(() => {
    sessionStorage.removeItem(endedKey)
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname)
  }, [])
  return (
    <>
      <title>{`${t.title} · ${brand}`}</title>
      <PageHead title={t.title} sub={t.sub}>
        <Link to="/account" className={buttonClass('outline')}>
          {t.back}
        </Link>
      </PageHead>
      <Later>
        {() => (
          <div className="grid gap-6">
            {ended ? <Note tone="warning">{t.accessEnded}</Note> : null}
            {token === '' ? null : (
              <Suspense fallback={<Skeleton className="h-40 rounded-xl" />}>
                {token.startsWith(offerKey) ? (
                  <OfferNote token={token.slice(offerKey.length)} onDone={() => setToken('')} />
                ) : (
                  <InvitationNote token={token} onDone={() => setToken('')} />
                )}
              </Suspense>
            )}
            <MembersCard />
            <InvitationsCard />
            <AccountsCard />
            <Suspense fallback={<Skeleton className="h-64 rounded-xl" />}>
              <ActsCard />
              <HandOverCard />
            </Suspense>
          </div>
        )}
      </Later>
    </>
  )
}

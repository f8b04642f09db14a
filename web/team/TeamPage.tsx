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

/** Loaded on demand: the end of the page, and the notes for visitors from a letter. */
const ActsCard = lazy(() => loadWanted(() => import('./ActsCard.tsx')))
const InvitationNote = lazy(() => loadWanted(() => import('./InvitationNote.tsx')))
const OfferNote = lazy(() => loadWanted(() => import('./OfferNote.tsx')))
const HandOverCard = lazy(() => loadWanted(() => import('./HandOverCard.tsx')))

/** How the fragment of an offer's link begins; an invitation's fragment is only its token. */
const offerKey = 'offer='

export const load = ({ queryClient }: LoadInput) =>
  Promise.all([queryClient.prefetchQuery(teamQuery), queryClient.prefetchQuery(accountsQuery)])

/** The members of this account, and the accounts in which the customer may work. */
export default function TeamPage() {
  const t = useTeamTexts()
  // The letter's link has the token after #, so no server logs it.
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

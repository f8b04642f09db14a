import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { messageOf } from '../api.ts'
import { isMember } from '../may.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { Later } from '../ui/Later.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { BillingCard } from './BillingCard.tsx'
import { EmailCard } from './EmailCard.tsx'
import { LeadCard } from './LeadCard.tsx'
import { LockCard } from './LockCard.tsx'
import { PasswordCard } from './PasswordCard.tsx'
import { PhoneCard } from './PhoneCard.tsx'
import { ProfileCard } from './ProfileCard.tsx'
import { accountQuery } from './queries.ts'
import { RegionCard } from './RegionCard.tsx'

/** Loaded later: these cards are below the first screenful. */
const DataCards = lazy(() => loadWanted(() => import('./DataCards.tsx')))
const FactorState = lazy(() => loadWanted(() => import('./FactorState.tsx')))
const SessionsCard = lazy(() => loadWanted(() => import('./SessionsCard.tsx')))
const SignInsCard = lazy(() => loadWanted(() => import('./SignInsCard.tsx')))

export const load = ({ queryClient }: LoadInput) => queryClient.prefetchQuery(accountQuery)

/** Everything that customers may change about themselves, and where they are signed in. */
export default function AccountPage() {
  const t = useTexts('account')
  const { data, error, refetch } = useQuery(accountQuery)
  // A member of the account only sees what invoices name; the rest belongs to the owner.
  const own = !isMember()
  return (
    <>
      <title>{`${t.account.title} · ${brand}`}</title>
      <PageHead title={t.account.title} sub={own && t.account.sub} />
      <Later>
        {() => (
          <div className="grid items-start gap-6 lg:grid-cols-2">
            {data && !own ? <BillingCard account={data} /> : null}
            {data && own ? (
              <>
                {/* Phones keep this order: sign-in settings are used more than the cards below. */}
                <div className="grid gap-6">
                  <ProfileCard account={data} />
                  <EmailCard email={data.email} proven={data.emailProven} />
                  <PhoneCard phone={data.phone} email={data.email} />
                  <PasswordCard email={data.email} />
                  <LeadCard
                    to="/account/security"
                    title={t.account.security}
                    sub={t.account.securitySub}
                    state={
                      <Suspense fallback={null}>
                        <FactorState />
                      </Suspense>
                    }
                  />
                  <Suspense fallback={<Skeleton className="h-48 rounded-xl" />}>
                    <SessionsCard />
                  </Suspense>
                  <LockCard />
                </div>
                <div className="grid gap-6">
                  <RegionCard account={data} />
                  <BillingCard account={data} />
                  <LeadCard to="/account/team" title={t.account.team} sub={t.account.teamSub} />
                  <LeadCard
                    to="/account/programs"
                    title={t.account.programs}
                    sub={t.account.programsSub}
                  />
                  <Suspense fallback={<Skeleton className="h-64 rounded-xl" />}>
                    <DataCards />
                  </Suspense>
                </div>
              </>
            ) : null}
            {!data && error ? (
              <section className="card lg:col-span-2">
                <LoadError
                  text={messageOf(error)}
                  retryLabel={t.common.retry}
                  onRetry={() => void refetch()}
                />
              </section>
            ) : null}
            {!data && !error ? (
              <>
                <Skeleton className="h-96 rounded-xl" />
                <Skeleton className="h-96 rounded-xl" />
              </>
            ) : null}
            {own ? (
              <div className="min-w-0 lg:col-span-2">
                <Suspense fallback={<Skeleton className="h-64 rounded-xl" />}>
                  <SignInsCard />
                </Suspense>
              </div>
            ) : null}
          </div>
        )}
      </Later>
    </>
  )
}

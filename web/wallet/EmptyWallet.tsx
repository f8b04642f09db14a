import { lazy, Suspense } from 'react'

// A picture that cannot be fetched is no reason to do anything.
const Art = lazy(() => import('./EmptyWalletArt.tsx').catch(() => ({ default: () => <></> })))

/** The picture of an empty wallet: seen by few, so fetched by them alone. */
export function EmptyWallet() {
  return (
    <Suspense fallback={<span className="block h-28 w-42" />}>
      <Art />
    </Suspense>
  )
}

import { lazy, Suspense } from 'react'

// A picture that fails to load is ignored.
const Art = lazy(() => import('./EmptyWalletArt.tsx').catch(() => ({ default: () => <></> })))

/** The picture of an empty wallet: seen by few, so fetched by them alone. */
export function EmptyWallet() {
  return (
    <Suspense fallback={<span className="block h-28 w-42" />}>
      <Art />
    </Suspense>
  )
}

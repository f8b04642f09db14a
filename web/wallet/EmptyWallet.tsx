import { lazy, Suspense } from 'react'

// A picture that fails to load is ignored.
const Art = lazy(() => import('./EmptyWalletArt.tsx').catch(() => ({ default: () => <></> })))

/** The picture of an empty wallet. It is loaded on demand, because few customers see it. */
export function EmptyWallet() {
  return (
    <Suspense fallback={<span className="block h-28 w-42" />}>
      <Art />
    </Suspense>
  )
}

import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { session } from '../session.ts'
import LockView from './LockView.tsx'

/** The lock view at an address of its own. Who is not signed in has nothing to lock. */
export default function LockPage() {
  const router = useRouter()
  useEffect(() => {
    if (!session.signedIn()) void router.navigate({ to: '/login', replace: true })
    else if (!session.locked()) session.lock()
  }, [router])
  return <LockView onUnlocked={() => location.assign('/')} />
}

import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { resume } from '../known-session.ts'
import { session } from '../session.ts'
import { lockEverywhere } from '../tabs.ts'
import LockView from './LockView.tsx'

export const load = async () => await resume()

/** The lock view as a page. Without a session there is nothing to lock. */
export default function LockPage() {
  const router = useRouter()
  useEffect(() => {
    if (!session.signedIn()) void router.navigate({ to: '/login', replace: true })
    else if (!session.locked()) lockEverywhere()
  }, [router])
  return <LockView onUnlocked={() => location.assign('/')} />
}

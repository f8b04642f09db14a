import { useBlocker } from '@tanstack/react-router'
import { memo, type RefObject } from 'react'
import { session } from '../session.ts'
import LeaveDialog from './LeaveDialog.tsx'

/**
 * Asks before a filled-in form is left. It does not ask after the order is placed, in an ended
 * session, or during maintenance.
 */
export default memo(function LeaveGuard({
  filled,
  sent,
}: {
  filled: boolean
  sent: RefObject<boolean>
}) {
  const holds = () => filled && !sent.current && session.signedIn() && !session.locked()
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && !next.pathname.startsWith('/pages/maint') && holds(),
    enableBeforeUnload: holds,
    withResolver: true,
  })
  return (
    <LeaveDialog
      open={blocker.status === 'blocked'}
      onStay={() => blocker.reset?.()}
      onLeave={() => blocker.proceed?.()}
    />
  )
})

import type { MemberPermission } from '../../contract/member-roles.ts'
import { Note } from '../ui/State.tsx'
import { useTeamTexts } from './texts.ts'

/** Explains to a member why a page has no actions for them. */
export default function RoleNote({ needs }: { needs: MemberPermission }) {
  const { mayNot } = useTeamTexts()
  return (
    <Note tone="info" className="mb-5">
      {needs === 'orders' ? mayNot.order : mayNot.change}
    </Note>
  )
}

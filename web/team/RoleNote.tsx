import type { MemberPermission } from '../../contract/member-roles.ts'
import { Note } from '../ui/State.tsx'
import { useTeamTexts } from './texts.ts'

/** Why there is nothing to press here for who works in the account of another. */
export default function RoleNote({ needs }: { needs: MemberPermission }) {
  const { mayNot } = useTeamTexts()
  return (
    <Note tone="info" className="mb-5">
      {needs === 'orders' ? mayNot.order : mayNot.change}
    </Note>
  )
}

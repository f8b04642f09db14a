/** Acts on members of the staff. */
import { mayDo } from '../../contract/staff-roles.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import {
  changeMember,
  disableMember,
  enableMember,
  endInvitation,
  voidInvitations,
  withdrawInvitation,
  type Member,
} from '../staff/index.ts'
import { releaseTickets } from '../tickets/index.ts'
import type { RegistryOf } from './acts.ts'
import { invitation } from './letters.ts'

const shown = ({ email, role, networks }: Member) => ({ email, role, networks: [...networks] })
const about = (id: string) => ({ subject: { kind: 'staff', id } })

/**
 * Ends the open invitations of a member who may not invite any more: somebody else must invite
 * again. Answers how many.
 */
async function voidInvitationsBy(tx: Tx, clock: Clock, member: string): Promise<number> {
  const invited = await tx
    .selectFrom('operator_act')
    .select('subject_id')
    .where('act', '=', 'staff.invite')
    .where('staff_id', '=', member)
    .execute()
  return await voidInvitations(
    tx,
    clock,
    invited.map(({ subject_id: id }) => id),
  )
}

export const staffActs: RegistryOf<'staff'> = {
  'staff.invite': {
    async run(tx, { invitations, mail, brandName, clock }, actor, input) {
      const { name, email, role, networks, replaces } = input
      const former = replaces === undefined ? null : await endInvitation(tx, clock, replaces)
      const { id, link, expiresAt } = await invitations.invite(tx, { name, email, role, networks })
      // A user of the shell hands the link over in person.
      if (actor.staffId !== null) {
        const { subject, text } = invitation(brandName, link)
        await mail(tx, email, subject, text)
      }
      return {
        ...about(id),
        before: former && { email: former.email, role: former.role },
        after: { name, email, role, networks: networks ?? [], expiresAt: expiresAt.toISOString() },
        told: { link },
      }
    },
  },
  'staff.withdraw': {
    async run(tx, { clock }, _actor, { invitation: withdrawn }) {
      const { email, role, expiresAt } = await withdrawInvitation(tx, clock, withdrawn)
      return {
        ...about(withdrawn),
        before: { email, role, expiresAt: expiresAt.toISOString() },
        after: { email, role, expiresAt: clock.now().toISOString() },
      }
    },
  },
  'staff.change': {
    async run(tx, { clock, tickets }, actor, { member, role, networks }) {
      const { before, after } = await changeMember(tx, member, { role, networks })
      const voided = mayDo(after.role, 'staff') ? 0 : await voidInvitationsBy(tx, clock, member)
      const released = mayDo(after.role, 'tickets')
        ? 0
        : await releaseTickets(tx, tickets, actor, before)
      return {
        ...about(member),
        before: {
          ...shown(before),
          ...(voided > 0 && { invitations: voided }),
          ...(released > 0 && { tickets: released }),
        },
        after: {
          ...shown(after),
          ...(voided > 0 && { invitations: 0 }),
          ...(released > 0 && { tickets: 0 }),
        },
      }
    },
  },
  'staff.disable': {
    async run(tx, { clock, tickets }, actor, { member }) {
      const { before, sessions } = await disableMember(tx, clock, member)
      const voided = await voidInvitationsBy(tx, clock, member)
      const released = await releaseTickets(tx, tickets, actor, before)
      const { email } = before
      return {
        ...about(member),
        before: { email, disabled: false, sessions, invitations: voided, tickets: released },
        after: { email, disabled: true, sessions: 0, invitations: 0, tickets: 0 },
      }
    },
  },
  'staff.enable': {
    async run(tx, _needs, _actor, { member }) {
      const { email } = await enableMember(tx, member)
      return {
        ...about(member),
        before: { email, disabled: true },
        after: { email, disabled: false },
      }
    },
  },
}

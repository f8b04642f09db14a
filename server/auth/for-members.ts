/** The owner's data that a member at work in the account reads and may change (decision 107). */
import type { Account } from '../../contract/account.ts'
import type { Me } from '../../contract/auth.ts'
import { seesMoney } from '../../contract/member-roles.ts'
import { Refusal } from '../platform/errors.ts'
import type { Caller } from '../platform/http.ts'

/** Removes the owner's email and phone. The balance is shown only to members who see the wallet. */
export function meForMember(me: Me, caller: Caller | undefined): Me {
  const { member, limits } = caller ?? {}
  if (!member || !limits) return me
  const balance = seesMoney({ role: member.role, ...limits }) ? me.balance : 0
  return { ...me, email: '', phone: '', balance, accounts: 0 }
}

/** Removes the owner's email and phone: they are the keys of the account. */
export const accountForMember = (account: Account, caller: Caller | undefined): Account =>
  caller?.member ? { ...account, email: '', phone: '' } : account

/**
 * Refuses with forbidden a member's change of the owner's own fields; a member may change what
 * invoices print.
 */
export function refuseOwnersFields(body: object, caller: Caller | undefined): void {
  const own = ['name', 'language', 'timeZone'].some((field) => field in body)
  if (caller?.member && own)
    throw new Refusal('forbidden', {
      said: {
        en: 'Name, language and time zone are changed by the owner of this account.',
        vi: 'Tên, ngôn ngữ và múi giờ do chủ tài khoản này thay đổi.',
      },
    })
}

/** Mends of members of an account. */
import type { Mend } from './mend.ts'

const finding = 'One password for everybody'
const roles = 'server/team/roles.test.ts'
const team = 'server/team/team.test.ts'
const ended = 'server/team/ended-access.test.ts'
const handing = 'Handing over meant giving the password away'
const handOver = 'server/hand-over/hand-over.test.ts'
const outlived = "A member's live log outlived the access"
const forgot = 'A hand-over forgot who had paid'

export const members: readonly Mend[] = [
  {
    finding,
    guard: roles,
    title: 'every call with every role',
    edits: [
      {
        file: 'contract/member-roles.ts',
        mended: "  if (!memberRolesThatMay[endpoint.member].includes(rights.role)) return 'role'\n",
        without: '',
      },
    ],
  },
  {
    finding,
    guard: roles,
    title: 'opens every call of the own server and domain, and of no other',
    edits: [
      {
        file: 'contract/member-roles.ts',
        mended: 'id !== undefined && limit.includes(id)',
        without: 'id !== undefined',
      },
    ],
  },
  {
    finding,
    guard: team,
    title: 'is accepted under the address that it was sent to',
    edits: [
      {
        file: 'server/team/invitations.ts',
        mended: 'person.email !== row.email || row.owner_id === personId',
        without: 'row.owner_id === personId',
      },
    ],
  },
  {
    finding,
    guard: team,
    title: 'acts in the owner’s account under the own name',
    edits: [
      {
        file: 'server/platform/http.ts',
        mended: "if (!caller?.member || endpoint.method === 'GET') return",
        without: "if (!caller?.member || endpoint.method !== 'DELETE') return",
      },
    ],
  },
  {
    finding,
    guard: ended,
    title: 'at once for who is removed',
    edits: [
      {
        file: 'server/customer-team.ts',
        mended: '  await endActingOf(tx, memberIds)\n',
        without: '  await endActingOf(tx, [])\n',
      },
    ],
  },
  {
    finding,
    guard: ended,
    title: 'for who joined since a sign-in that was not the owner’s',
    edits: [
      {
        file: 'server/auth/sign-in-letter.ts',
        mended: '      await needs.endTeamSince(tx, { customerId, since })\n',
        without: '',
      },
    ],
  },
  {
    finding,
    guard: team,
    title: 'whose own second factor is asked for',
    edits: [
      {
        file: 'server/platform/http-members.ts',
        mended: 'if (endpoint.asksAgain === true && !(await isProven(own)))',
        without: 'if (endpoint.asksAgain === true && locked)',
      },
    ],
  },
  {
    finding: handing,
    guard: handOver,
    title: 'goes over with what is paid',
    edits: [
      {
        file: 'server/wordpress/store.ts',
        mended: "        .onRef('i.customer_id', '=', 's.customer_id'),\n",
        without: '',
      },
    ],
  },
  {
    finding: handing,
    guard: handOver,
    title: 'is taken once, however often',
    edits: [
      {
        file: 'server/hand-over/offers.ts',
        mended: '.set({ to_id: person.id, accepted_at: clock.now() })',
        without: '.set({ to_id: person.id })',
      },
    ],
  },
  {
    finding: handing,
    guard: handOver,
    title: 'is refused while something is owed',
    edits: [
      {
        file: 'server/wordpress/hand-over.ts',
        mended: '  if (await isAtWork(tx, row.id)) throw refuse(texts.working)\n',
        without: '',
      },
    ],
  },
  {
    finding: 'What an intruder gave away stayed given',
    guard: handOver,
    title: 'ends with a sign-in that was not the owner’s',
    edits: [
      {
        file: 'server/auth/sign-in-letter.ts',
        mended: '      await needs.takeBackOffers(tx, customerId)\n',
        without: '',
      },
    ],
  },
  {
    finding: outlived,
    guard: ended,
    title: 'to live logs however it ends',
    edits: [
      {
        file: 'server/auth/sign-in.ts',
        mended: 'return await needs.endLogsOf(tx, [customerId])',
        without: 'return',
      },
    ],
  },
  {
    finding: outlived,
    guard: ended,
    title: 'to a ticket that is written just after',
    edits: [
      {
        file: 'server/wordpress/log-stream.ts',
        mended: 'return until && { ...of, until }',
        without: 'return { ...of, until: until ?? later(clock.now(), streamLifeMs) }',
      },
    ],
  },
  {
    finding: forgot,
    guard: handOver,
    title: 'pays with what comes back',
    edits: [
      {
        file: 'server/billing/subscriptions.ts',
        mended: 'new Set([row.customer_id, ...credited])',
        without: 'new Set([row.customer_id])',
      },
    ],
  },
  {
    finding: forgot,
    guard: handOver,
    title: 'a domain goes over with its records',
    edits: [
      {
        file: 'server/dns/hand-over.ts',
        mended: ".where('zone_id', '=', zone.id)",
        without: ".where('zone_id', '=', toId)",
      },
    ],
  },
]

/** Mends of tickets. */
import type { Mend } from './mend.ts'

const finding = 'Nobody could ask'
const guard = 'server/tickets/tickets.test.ts'
const desk = 'server/tickets/desk.test.ts'
const byMail = 'A letter opened nothing'
const letters = 'server/tickets/mail/mail.test.ts'
const signatures = 'server/tickets/mail/signature.test.ts'

export const tickets: readonly Mend[] = [
  {
    finding,
    guard,
    title: 'is nobody else’s',
    edits: [
      {
        file: 'server/tickets/tickets.ts',
        mended: 'if (!row || row.customer_id !== customerId)',
        without: 'if (!row || customerId === "")',
      },
    ],
  },
  {
    finding,
    guard,
    title: 'belong to who uploaded them',
    edits: [
      {
        file: 'server/tickets/files.ts',
        mended: "    .where(owner, '=', ownerId)\n    .where('message_id', 'is', null)\n",
        without: "    .where(owner, 'is not', ownerId === '' ? owner : null)\n",
      },
    ],
  },
  {
    finding,
    guard,
    title: 'of a note are the staff’s alone',
    edits: [
      {
        file: 'server/tickets/files.ts',
        mended: "if (!of.withNotes) query = query.where('m.kind', '!=', 'note')",
        without: 'if (!of.withNotes) query = query.limit(1)',
      },
    ],
  },
  {
    finding,
    guard: desk,
    title: 'merges tickets of one customer alone',
    edits: [
      {
        file: 'server/tickets/staff-work.ts',
        mended: "  if (!isOfOne) throw no('invalid_input', 'into', sentences.strangers)\n",
        without: '',
      },
    ],
  },
  {
    finding,
    guard: desk,
    title: 'leaves what was written out of the trail',
    edits: [
      {
        file: 'server/operator/perform.ts',
        mended: 'actOf(name).kept?.(input) ?? input',
        without: 'input',
      },
    ],
  },
  {
    finding: byMail,
    guard: letters,
    title: 'with a forged sender is nobody’s',
    edits: [
      {
        file: 'server/tickets/mail/intake.ts',
        mended: 'signers.some((signer) => isAligned(signer, from.address))',
        without: 'signers !== undefined || isAligned("", from.address)',
      },
    ],
  },
  {
    finding: byMail,
    guard: letters,
    title: 'goes by the signed address, never by the subject',
    edits: [
      {
        file: 'server/tickets/mail/intake.ts',
        mended: 'const proven = await isOfTicket(tx, deps, row, from.address)',
        without: 'const proven = (await isOfTicket(tx, deps, row, from.address)) || true',
      },
    ],
  },
  {
    finding: byMail,
    guard: letters,
    title: 'is dropped: programs, lists, reports, and our own letters',
    edits: [
      {
        file: 'server/tickets/mail/intake.ts',
        mended: "letter.isAutomatic || sender === '' || isOwn(deps, from.address)",
        without: "sender === '' || isOwn(deps, from.address)",
      },
    ],
  },
  {
    finding: byMail,
    guard: signatures,
    title: 'holds for the letter as it was sent, and for no other',
    edits: [
      {
        file: 'server/tickets/mail/dkim.ts',
        mended: "  if (digest !== tag('bh').replace(/\\s/g, '')) return undefined\n",
        without: "  if (digest === '') return undefined\n",
      },
    ],
  },
]

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Hourglass } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { formatMoney, type Currency } from '../../contract/money.ts'
import { approveProposal, rejectProposal, type Proposal } from '../../contract/operator-desk.ts'
import { enTyped } from '../i18n/en-typed.ts'
import { viTyped } from '../i18n/vi-typed.ts'
import { TypedFrame } from '../shell/TypedFrame.tsx'
import { Button } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Card } from '../ui/Card.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, inputClass } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { call } from './api.ts'
import { Changes } from './Changes.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'
import { Facts } from './money/Facts.tsx'
import { previewProposalQuery, proposalsQuery } from './queries.ts'
import { useDeskForm } from './use-form.ts'

type Decision = { readonly proposal: Proposal; readonly how: 'approve' | 'reject' }

export function ProposalsView() {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(proposalsQuery)
  const [decision, setDecision] = useState<Decision>()
  return (
    <>
      <PageHead title={t.proposals.title} sub={t.proposals.sub} />
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {data?.length === 0 ? <Empty text={t.proposals.empty} icon={Hourglass} /> : null}
        <ul>
          {data?.map((proposal) => (
            <Waiting key={proposal.id} proposal={proposal} onDecide={setDecision} />
          ))}
        </ul>
      </Card>
      {decision?.how === 'approve' ? (
        <ApproveDialog proposal={decision.proposal} onClose={() => setDecision(undefined)} />
      ) : null}
      {decision?.how === 'reject' ? (
        <RejectDialog proposal={decision.proposal} onClose={() => setDecision(undefined)} />
      ) : null}
    </>
  )
}

function useWhat(): (proposal: Proposal) => string {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  return ({ act, input, customer }) => {
    const { amount, currency, payment } = input
    const money =
      typeof amount === 'number' && typeof currency === 'string'
        ? formatMoney(amount, currency as Currency, language)
        : ''
    return [t.acts[act] ?? act, money, customer?.name ?? payment].filter(Boolean).join(' · ')
  }
}

/** Facts that are already shown in or beside the title. */
const said = ['amount', 'currency', 'payment', 'told', 'reason']

function Waiting({
  proposal,
  onDecide,
}: {
  proposal: Proposal
  onDecide: (decision: Decision) => void
}) {
  const t = useDeskTexts()
  const what = useWhat()(proposal)
  const { by, expiresAt, reason, mine, decidable, customer, input } = proposal
  const why = mine ? t.proposals.mine : t.proposals.notYours
  const nobody = proposal.approvers === 0 ? t.proposals.nobody : null
  return (
    <li
      className={
        'flex flex-wrap items-center gap-3 border-t border-border px-5 py-4 first:border-0'
      }
    >
      <div className="min-w-0 flex-1 basis-72">
        <p className="num font-medium break-words">
          {customer ? (
            <DeskLink to={`/customers/${customer.id}`} className="hover:underline">
              {what}
            </DeskLink>
          ) : (
            what
          )}
        </p>
        {typeof input['told'] === 'string' ? (
          <p className="text-sm break-words text-ink-2">{`“${input['told']}”`}</p>
        ) : null}
        <p className="text-sm break-words">{reason}</p>
        <Changes before={null} after={input} said={said} />
        {proposal.act === 'catalog.publish' || proposal.act === 'catalog.use' ? (
          <DeskLink to={`/catalog/${proposal.id}`} className="text-sm text-primary-ink underline">
            {t.catalog.preview.seeIt}
          </DeskLink>
        ) : null}
        <p className="num text-xs text-ink-3">
          {`${t.proposals.by(by)} · ${t.proposals.until(timeOf(expiresAt))}`}
        </p>
        {decidable ? null : (
          <p className={cx('text-xs', nobody ? 'text-warning' : 'text-ink-3')}>{nobody ?? why}</p>
        )}
      </div>
      {decidable || mine ? (
        <Button variant="outline" onClick={() => onDecide({ proposal, how: 'reject' })}>
          {mine ? t.proposals.withdraw : t.proposals.reject}
        </Button>
      ) : null}
      {decidable ? (
        <Button onClick={() => onDecide({ proposal, how: 'approve' })}>
          {t.proposals.approve}
        </Button>
      ) : null}
    </li>
  )
}

interface DialogProps {
  proposal: Proposal
  onClose: () => void
}

function ApproveDialog({ proposal, onClose }: DialogProps) {
  const t = useDeskTexts()
  const what = useWhat()(proposal)
  const client = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call(approveProposal, { params: { id: proposal.id } }),
    onSuccess: async () => {
      // A decided proposal cannot be previewed any more.
      const kept: readonly unknown[] = ['session', 'proposal-preview']
      await client.invalidateQueries({ predicate: ({ queryKey }) => !kept.includes(queryKey[0]) })
      toast.success(t.proposals.approved, what)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      busy={isPending}
      title={what}
      description={t.proposals.sure}
      closeLabel={t.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button busy={isPending} onClick={() => mutate()}>
            {t.proposals.approve}
          </Button>
        </>
      }
    >
      <Asked of={proposal} />
      <Foreseen of={proposal} />
      {error ? (
        <Note tone="danger" role="alert" className="mt-3">
          {error.message}
        </Note>
      ) : null}
    </Dialog>
  )
}

/** Who asked for it, when and why, and about whom or what. */
function Asked({ of: { by, byRole, at, expiresAt, reason, customer, input } }: AskedProps) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.proposals
  const { amount, currency, told } = input
  const rows: (readonly [string, ReactNode])[] = [
    [words.asked, byRole === null ? by : `${by} · ${t.roles[byRole]}`],
    [words.askedAt, `${timeOf(at)} · ${words.until(timeOf(expiresAt))}`],
    [words.why, reason ?? '–'],
    ...(customer ? [[words.customer, `${customer.name} · ${customer.email}`] as const] : []),
    ...(typeof amount === 'number' && typeof currency === 'string'
      ? [[t.facts['amount'] ?? '', formatMoney(amount, currency as Currency, language)] as const]
      : []),
    ...(typeof told === 'string' ? [[t.facts['told'] ?? '', told] as const] : []),
  ]
  return (
    <>
      <Facts rows={rows} />
      <div className="mt-3">
        <Changes before={null} after={input} said={said} />
      </div>
    </>
  )
}
interface AskedProps {
  of: Proposal
}

/** What the act would change now: the server tries it and rolls everything back. */
function Foreseen({ of: { id, input } }: AskedProps) {
  const t = useDeskTexts()
  const words = t.proposals
  const { data, error, refetch } = useQuery(previewProposalQuery(id))
  return (
    <section aria-busy={!data && !error} className="mt-4 border-t border-border pt-3">
      <h3 className="mb-2 text-sm font-semibold">{words.foreseen}</h3>
      {(data ?? error) ? null : <SkeletonRows />}
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
      {data?.refused ? <Note tone="warning">{words.refused(data.refused)}</Note> : null}
      {data && data.refused === null ? (
        <Changes
          before={data.before}
          after={data.after}
          said={askedAlready(input, data.after)}
          isEmptySaid
        />
      ) : null}
    </section>
  )
}

/** Facts that are shown above as requested are not repeated. */
const askedAlready = (input: Proposal['input'], after: Proposal['input'] | null): string[] => [
  'currency',
  'told',
  ...Object.keys(after ?? {}).filter(
    (name) => name in input && JSON.stringify(input[name]) === JSON.stringify(after?.[name]),
  ),
]

function RejectDialog({ proposal, onClose }: DialogProps) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const what = useWhat()(proposal)
  const client = useQueryClient()
  const form = useDeskForm({
    initial: { reason: '' },
    schema: rejectProposal.body,
    body: (values) => ({ body: values }),
    submit: async (body) => {
      await call(rejectProposal, { params: { id: proposal.id }, body })
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      toast.success(t.proposals.rejected, what)
      onClose()
    },
  })
  return (
    <TypedFrame
      onClose={onClose}
      isTyped={(form.values['reason'] ?? '').trim() !== ''}
      words={language === 'vi' ? viTyped : enTyped}
      busy={form.busy}
      title={what}
      closeLabel={t.close}
      footer={(leave) => (
        <>
          <Button variant="outline" onClick={leave}>
            {t.cancel}
          </Button>
          <Button type="submit" form="reject" variant="danger" busy={form.busy}>
            {proposal.mine ? t.proposals.withdraw : t.proposals.reject}
          </Button>
        </>
      )}
    >
      <form id="reject" noValidate onSubmit={(event) => void form.onSubmit(event)}>
        {form.failure ? (
          <Note tone="danger" role="alert" className="mb-3">
            {form.failure}
          </Note>
        ) : null}
        <Field label={t.fields.reason} error={form.errors['reason']}>
          {(control) => (
            <textarea
              {...control}
              {...form.bind('reason')}
              rows={3}
              className={`${inputClass} h-auto py-2`}
            />
          )}
        </Field>
      </form>
    </TypedFrame>
  )
}

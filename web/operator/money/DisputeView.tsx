import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { BackLink } from '../BackLink.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { DeskLink } from '../path.tsx'
import { DisputeState, reasonOf } from './DisputesView.tsx'
import { Facts } from './Facts.tsx'
import { disputeQuery } from './queries.ts'

/** One dispute: its payment, where the money is, and the answer. */
export function DisputeView({ id, session }: { id: string; session: StaffSession }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const { data: one, error, refetch } = useQuery(disputeQuery(id))
  const [wanted, setWanted] = useState<WantedAct>()
  const words = t.money.disputes
  if (!one)
    return error ? (
      <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
    ) : (
      <SkeletonRows />
    )
  const money = (amount: number) => formatMoney(amount, one.currency, language)
  const isOpen = one.state === 'needs_evidence' && (one.answer === null || one.answer === 'refused')
  const mayAnswer = isOpen && mayDo(session.role, 'money')
  const ask = (act: 'dispute.answer' | 'dispute.accept') =>
    setWanted({ act, about: `${money(one.amount)} · ${one.payment}`, fixed: { dispute: one.id } })
  return (
    <>
      <BackLink to="/disputes" text={words.back} />
      <PageHead title={`${words.one} · ${money(one.amount)}`}>
        {mayAnswer && one.evidenceAtMost !== null ? (
          <>
            <Button onClick={() => ask('dispute.answer')}>{t.acts['dispute.answer']}</Button>
            <Button variant="outline" onClick={() => ask('dispute.accept')}>
              {t.acts['dispute.accept']}
            </Button>
          </>
        ) : null}
      </PageHead>
      {isOpen && one.evidenceAtMost === null ? (
        <Note tone="info" className="mb-5">
          {words.noCalls}
        </Note>
      ) : null}
      <div className="grid gap-5 md:grid-cols-2">
        <Card title={words.facts} action={<DisputeState of={one} />}>
          <Facts
            rows={[
              [words.amount, money(one.amount)],
              [words.fee, one.fee === null ? words.feeUnknown : money(one.fee)],
              [words.reason, reasonOf(words, one.reason)],
              [words.dueAt, one.evidenceDueAt === null ? '–' : timeOf(one.evidenceDueAt)],
              [words.closedAt, one.closedAt === null ? '–' : timeOf(one.closedAt)],
              [words.reference, `${one.gateway} · ${one.reference}`],
              [words.payment, one.payment],
              [
                words.customer,
                one.customer ? (
                  <DeskLink key="who" to={`/customers/${one.customer.id}`} className="underline">
                    {`${one.customer.name} · ${one.customer.email}`}
                  </DeskLink>
                ) : (
                  '–'
                ),
              ],
            ]}
          />
        </Card>
        <Card title={words.money}>
          {one.posted === null ? (
            <p className="text-sm text-ink-2">{words.moneyKept}</p>
          ) : (
            <Facts
              rows={[
                [words.fromWallet, `${money(one.posted.fromWallet)} · ${timeOf(one.posted.at)}`],
                [words.owed, money(one.posted.owed)],
                [words.setOff, money(one.posted.setOff)],
                [words.returned, one.returnedAt === null ? '–' : timeOf(one.returnedAt)],
              ]}
            />
          )}
        </Card>
        <Card title={words.answers} className="md:col-span-2">
          {one.answers.length === 0 ? (
            <p className="text-sm text-ink-3">{words.noAnswers}</p>
          ) : null}
          <ul className="grid gap-4">
            {one.answers.map((answer) => (
              <li key={answer.id}>
                <p className="num flex flex-wrap items-center gap-2 text-xs text-ink-3">
                  {`${answer.kind === 'evidence' ? words.evidence : words.acceptance} · ` +
                    timeOf(answer.at)}
                  <Badge tone={answer.status === 'refused' ? 'danger' : 'neutral'}>
                    {words.answerStates[answer.status]}
                  </Badge>
                </p>
                <p className="mt-1 text-sm break-words whitespace-pre-wrap">{answer.text}</p>
                {answer.detail === null ? null : (
                  <p className="mt-1 text-sm break-words text-danger">{answer.detail}</p>
                )}
              </li>
            ))}
          </ul>
        </Card>
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

import { Eye, EyeOff } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type * as z from 'zod/mini'
import type { Plan, Region } from '../../contract/wordpress.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Note } from '../ui/State.tsx'
import { diskMb, type OrderForm } from './order-form.ts'

interface ReviewProps {
  open: boolean
  onClose: () => void
  onConfirm: () => void
  busy: boolean
  form: OrderForm
  region: z.output<typeof Region>
  plan: Plan
  total: number
}

/** The whole order once more, before money moves. */
export default function ReviewDialog({
  open,
  onClose,
  onConfirm,
  busy,
  form,
  region,
  plan,
  total,
}: ReviewProps) {
  const t = useTexts('servers')
  const user = useMe()
  const { money, ram, disk } = useFormat()
  const price = money(total, user.currency)
  const short = total - user.balance
  const label =
    short > 0 ? t.order.topUpAndOrder(money(short, user.currency)) : t.order.confirm(price)
  return (
    <Dialog
      open={open}
      onClose={onClose}
      busy={busy}
      closeLabel={t.common.close}
      title={t.order.confirmTitle}
      description={t.order.confirmText}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button
            busy={busy}
            onClick={onConfirm}
            className="num"
            aria-label={short > 0 ? `${t.order.confirmWord}: ${label}` : undefined}
          >
            {label}
          </Button>
        </>
      }
    >
      <dl
        className={
          'divide-y divide-border rounded-lg text-sm shadow-[inset_0_0_0_1px_var(--border)]'
        }
      >
        <Line term={t.order.confirmRegion}>{region.name}</Line>
        <Line term={t.order.confirmPlan}>
          {plan.name} · {t.server.cpu(plan.cpu)} · {t.wp.ram(ram(plan.ram))}
        </Line>
        <Line term={t.order.confirmDisk}>{t.server.gb(disk(diskMb(form.disk)))}</Line>
        <Line term={t.order.confirmMariadb}>{t.server.gb(disk(diskMb(form.mariadb)))}</Line>
        <Line term={t.order.confirmUser}>{form.user}</Line>
        <Line term={t.order.confirmPassword}>
          <Secret text={form.password} />
        </Line>
        <Line term={t.order.confirmContainers}>{form.containers}</Line>
        <Line term={t.order.confirmMonthly}>{price}</Line>
      </dl>
      {total > user.balance ? (
        <Note tone="warning" className="mt-3">
          {t.order.shortNote}
        </Note>
      ) : null}
    </Dialog>
  )
}

function Line({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex items-center justify-between gap-4 px-3.5 py-2.5">
      <dt className="shrink-0 text-ink-3">{term}</dt>
      <dd className="num min-w-0 text-right font-medium break-words">{children}</dd>
    </div>
  )
}

/** Hidden until asked for: others may look over the shoulder. */
function Secret({ text }: { text: string }) {
  const t = useTexts('servers')
  const [shown, setShown] = useState(false)
  return (
    <span className="flex items-center gap-1.5">
      <span className={shown ? 'font-mono text-xs break-all' : ''}>
        {shown ? text : '••••••••'}
      </span>
      <button
        type="button"
        aria-label={t.common.showPassword}
        aria-pressed={shown}
        onClick={() => setShown(!shown)}
        className={
          '-my-1 -mr-1.5 grid size-7 place-items-center rounded-md text-ink-3 ' +
          'hover:bg-subtle hover:text-ink'
        }
      >
        {shown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
      </button>
    </span>
  )
}

import { Eye, EyeOff } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type * as z from 'zod/mini'
import type { Plan, Region } from '../../contract/wordpress.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useConfig, useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Note } from '../ui/State.tsx'
import { CouponField, type Applied } from './CouponField.tsx'
import { diskMb, type OrderForm } from './order-form.ts'
import { useShortfall } from './use-shortfall.ts'

/** The order's last inputs. */
export interface Confirmed {
  readonly coupon: string | undefined
}

interface ReviewProps {
  open: boolean
  onClose: () => void
  onConfirm: (order: Confirmed) => void
  busy: boolean
  form: OrderForm
  region: z.output<typeof Region>
  plan: Plan
  total: number
}

/** A review of the whole order before payment. */
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
  const t = useTexts('servers', 'review')
  const user = useMe()
  const { database } = useConfig().wordpress
  const { language, money, ram, disk } = useFormat()
  const number = (value: number) => value.toLocaleString(language === 'vi' ? 'vi' : 'en')
  // A coupon's check is valid for one order only, so it is asked for again after a change.
  const [judged, setJudged] = useState<{ coupon: Applied; of: string }>()
  const order = {
    size: plan.id,
    disk: diskMb(form.disk),
    mariadb_disk_size: diskMb(form.mariadb),
    replicate: form.containers,
  }
  const of = JSON.stringify([order, total])
  const coupon = judged?.of === of ? judged.coupon : undefined
  const { code, off } = coupon ?? { code: undefined, off: 0 }
  const first = total - off
  const price = money(first, user.currency)
  const { short, older } = useShortfall(first)
  const label =
    short > 0 ? t.review.confirmShort(money(short, user.currency)) : t.review.confirm(price)
  return (
    <Dialog
      open={open}
      onClose={onClose}
      busy={busy}
      closeLabel={t.common.close}
      title={t.review.title}
      description={t.review.text}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button busy={busy} onClick={() => onConfirm({ coupon: code })} className="num">
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
        <Line term={t.review.region}>{region.name}</Line>
        <Line term={t.review.plan}>
          {plan.name} · {t.server.cpu(plan.cpu)} · {t.wp.ram(ram(plan.ram))}
        </Line>
        <Line term={t.review.mail}>{t.review.anHour(number(plan.mailAnHour))}</Line>
        {plan.mirrored ? <Line term={t.review.mirror}>{t.review.mirrored}</Line> : null}
        <Line term={t.review.disk}>{t.server.gb(disk(diskMb(form.disk)))}</Line>
        <Line term={t.review.mariadb}>{t.server.gb(disk(diskMb(form.mariadb)))}</Line>
        <Line term={t.review.user}>{form.user}</Line>
        <Line term={t.review.password}>
          <Secret text={form.password} />
        </Line>
        <Line term={t.review.containers}>{form.containers}</Line>
        <Line term={t.review.monthly}>{money(total, user.currency)}</Line>
        {coupon ? <Line term={t.review.coupon.first}>{price}</Line> : null}
        {older > 0 ? <Line term={t.review.older}>{money(older, user.currency)}</Line> : null}
        {short > 0 ? null : <Line term={t.review.left}>{money(-short, user.currency)}</Line>}
      </dl>
      <CouponField
        order={order}
        // A draft of an earlier release has none.
        given={form.coupon ?? ''}
        currency={user.currency}
        applied={coupon}
        onChange={(applied) => setJudged(applied && { coupon: applied, of })}
      />
      {database === 'sqlite' ? (
        <p className="mt-3 text-xs text-ink-3">{t.review.sqliteNote}</p>
      ) : null}
      {short > 0 ? (
        <Note tone="warning" className="mt-3">
          {t.review.shortNote}
          {older > 0 ? ` ${t.review.olderNote(money(short - older, user.currency))}` : null}
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

/** Hidden until requested: others may see the screen. */
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

import {
  Banknote,
  CreditCard,
  Landmark,
  QrCode,
  Smartphone,
  Zap,
  type LucideIcon,
} from 'lucide-react'
import type { Config } from '../../contract/system.ts'
import { useFormat } from '../format.ts'
import { sentenceLanguage, useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { cx } from '../ui/cx.ts'
import { RadioCard } from '../ui/RadioCard.tsx'
import { cardTypeId, fastest } from './top-up-form.ts'
import { useCardTexts } from './card-texts.ts'

type PaymentType = Pick<Config['payments'][string]['types'][number], 'id' | 'name' | 'method'>

const icons: Record<number, LucideIcon> = {
  2: Zap,
  3: QrCode,
  4: Landmark,
  5: CreditCard,
  6: Smartphone,
  [cardTypeId]: CreditCard,
  8: Banknote,
}

export function TypeCard({
  type,
  wide,
  checked,
  onChoose,
}: {
  type: PaymentType
  wide: boolean
  checked: boolean
  onChoose: () => void
}) {
  const t = useTexts('topUp')
  const c = useCardTexts()
  const { language } = useFormat()
  const Icon = icons[type.id] ?? Banknote
  const texts: Record<string, string> = t.topUp.methods
  let hint = texts[type.id]
  if (type.method === 'BANKTRANSFER') hint = t.topUp.methods.bank
  else if (type.id === cardTypeId) hint = c.creditHint
  return (
    <RadioCard
      name="type"
      value={String(type.id)}
      checked={checked}
      onChange={onChoose}
      className={cx('items-center gap-3 p-3.5 pr-11', wide && '@md:col-span-2')}
    >
      <span
        aria-hidden
        className={
          'grid size-10 shrink-0 place-items-center rounded-md bg-subtle text-ink-2 ' +
          'group-has-checked:bg-primary group-has-checked:text-white'
        }
      >
        <Icon className="size-5" strokeWidth={1.75} />
      </span>
      <span className="min-w-0">
        <span className="flex flex-wrap items-center gap-x-2 text-sm font-medium">
          {type.name[sentenceLanguage(language)]}
          {type.id === fastest ? (
            <Badge tone="success" className="h-5">
              {t.topUp.fastest}
            </Badge>
          ) : null}
        </span>
        {hint ? <span className="mt-0.5 block text-xs text-ink-3">{hint}</span> : null}
      </span>
    </RadioCard>
  )
}

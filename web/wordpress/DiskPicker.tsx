import { memo, type CSSProperties } from 'react'
import { diskLimits } from '../../contract/wordpress.ts'
import { useTexts } from '../i18n/index.ts'
import { Input } from '../ui/Field.tsx'
import { RadioCard } from '../ui/RadioCard.tsx'
import { maxGb, minGb, type DiskChoice } from './order-form.ts'

interface DiskPickerProps {
  name: string
  label: string
  value: DiskChoice
  onChange: (value: DiskChoice) => void
  leastGb: number
  /** The monthly price of a number of GB; absent: it is included, and no price is shown. */
  priceOf?: ((gb: number) => string) | undefined
  perGb?: string | undefined
  error?: string | undefined
}

/** A choice of 10, 20, 40 GB or any other size. */
export const DiskPicker = memo(function DiskPicker({
  name,
  label,
  value,
  onChange,
  leastGb,
  priceOf,
  perGb,
  error,
}: DiskPickerProps) {
  const t = useTexts('servers')
  const custom = value.choice === 'custom'
  const typed = Number(value.custom)
  const filled = Math.min(100, Math.max(0, ((typed - minGb) / (maxGb - minGb)) * 100))
  const errorId = `${name}-error`
  return (
    <fieldset aria-describedby={error ? errorId : undefined} className="@container">
      <legend className="sr-only">{label}</legend>
      <div className="grid grid-cols-2 gap-2.5 @lg:grid-cols-4">
        {diskLimits.presetsGb.map((gb) => (
          <RadioCard
            key={gb}
            name={name}
            value={String(gb)}
            checked={value.choice === gb}
            corner={false}
            onChange={() => onChange({ ...value, choice: gb })}
            className="flex-col p-3"
          >
            <span className="num text-sm font-semibold">{t.order.diskSize(gb)}</span>
            {priceOf ? (
              <span className="num text-xs text-ink-3 group-has-checked:text-ink-2">
                {priceOf(gb)}
              </span>
            ) : null}
          </RadioCard>
        ))}
        <RadioCard
          name={name}
          value="custom"
          checked={custom}
          corner={false}
          onChange={() => onChange({ ...value, choice: 'custom' })}
          className="flex-col p-3"
        >
          <span className="text-sm font-semibold">{t.order.customDisk}</span>
          {perGb ? (
            <span className="num text-xs text-ink-3 group-has-checked:text-ink-2">{perGb}</span>
          ) : null}
        </RadioCard>
      </div>
      {custom ? (
        <div className="mt-3 flex items-center gap-4">
          <input
            type="range"
            aria-label={t.order.customDiskLabel(label)}
            min={minGb}
            max={maxGb}
            value={Number.isFinite(typed) ? typed : minGb}
            onChange={(event) => onChange({ ...value, custom: event.target.value })}
            style={{ '--filled': `${filled}%` } as CSSProperties}
            className="min-w-0 flex-1"
          />
          <label className="flex items-center gap-2 text-sm">
            <span className="sr-only">{t.order.customDiskValue(label)}</span>
            <Input
              inputMode="numeric"
              autoComplete="off"
              name={`${name}-custom`}
              value={value.custom}
              aria-invalid={error ? true : undefined}
              onChange={(event) => onChange({ ...value, custom: event.target.value.slice(0, 6) })}
              className="num max-w-20 text-right"
            />
            GB
          </label>
        </div>
      ) : null}
      {error ? (
        <p id={errorId} className="mt-2 text-xs font-medium text-danger">
          {error}
        </p>
      ) : null}
      {!error && leastGb > minGb ? (
        <p className="mt-2 text-xs text-ink-3">{t.order.regionMinimum(leastGb)}</p>
      ) : null}
    </fieldset>
  )
})

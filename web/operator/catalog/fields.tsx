/** The fields of one plan, and of one data centre. */
import { Copy, Trash2 } from 'lucide-react'
import { currencies } from '../../../contract/money.ts'
import type { SoldDataCentre, SoldPlan } from '../../../contract/operator-catalog.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field, Input } from '../../ui/Field.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { useDeskTexts } from '../language.ts'

/** Error messages by the path of the field, such as plans.1.prices.VND.sale. */
export type Faults = Readonly<Record<string, string>>

export function Typed({
  label,
  value,
  fault,
  decimal = false,
  onChange,
}: {
  label: string
  value: string
  fault: string | undefined
  decimal?: boolean
  onChange: (text: string) => void
}) {
  return (
    <Field label={label} error={fault}>
      {(control) => (
        <Input
          {...control}
          value={value}
          maxLength={60}
          autoComplete="off"
          inputMode={decimal ? 'decimal' : undefined}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

function Head({ name, isNew }: { name: string; isNew: boolean }) {
  const words = useDeskTexts().catalog.editor
  return (
    <span className="flex flex-wrap items-center gap-2 [overflow-wrap:anywhere]">
      {name}
      {isNew ? <Badge tone="primary">{words.isNew}</Badge> : null}
    </span>
  )
}

function RemoveButton({ onRemove }: { onRemove: () => void }) {
  const words = useDeskTexts().catalog.editor
  return (
    <Button size="sm" variant="outline" onClick={onRemove}>
      <Trash2 aria-hidden className="size-4" />
      {words.remove}
    </Button>
  )
}

export function PlanFields({
  plan,
  at,
  faults,
  onChange,
  onCopy,
  onRemove,
}: {
  plan: SoldPlan
  at: string
  faults: Faults
  onChange: (to: Partial<SoldPlan>, field: string) => void
  onCopy: () => void
  onRemove: () => void
}) {
  const words = useDeskTexts().catalog
  const isNew = plan.id === null
  const setPrice = (code: (typeof currencies)[number], of: 'price' | 'sale', text: string) =>
    onChange(
      { prices: { ...plan.prices, [code]: { ...plan.prices[code], [of]: text } } },
      // A sale's error also depends on the price beside it.
      `prices.${code}`,
    )
  return (
    <Card
      title={<Head name={plan.name} isNew={isNew} />}
      action={
        isNew ? (
          <RemoveButton onRemove={onRemove} />
        ) : (
          <Button size="sm" variant="outline" onClick={onCopy}>
            <Copy aria-hidden className="size-4" />
            {words.editor.copy}
          </Button>
        )
      }
    >
      <div className="grid gap-5">
        <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
          {(['name', 'cpu', 'ram', 'mailAnHour'] as const).map((field) => (
            <Typed
              key={field}
              label={words.fields[field] ?? field}
              decimal={field !== 'name'}
              value={plan[field]}
              fault={faults[`${at}.${field}`]}
              onChange={(text) => onChange({ [field]: text }, field)}
            />
          ))}
        </div>
        <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
          {currencies.map((code) => (
            <div key={code} className="grid content-start gap-4">
              {(['price', 'sale'] as const).map((of) => (
                <Typed
                  key={of}
                  label={`${words.fields[of]} ${code}`}
                  decimal
                  value={plan.prices[code][of]}
                  fault={faults[`${at}.prices.${code}.${of}`]}
                  onChange={(text) => setPrice(code, of, text)}
                />
              ))}
            </div>
          ))}
        </div>
        <Switch
          label={words.fields['mirrored'] ?? ''}
          hint={words.editor.mirrorHint}
          checked={plan.mirrored}
          onChange={(mirrored) => onChange({ mirrored }, 'mirrored')}
        />
        <Switch
          label={words.sold}
          hint={words.editor.stopHint}
          checked={plan.sold}
          onChange={(sold) => onChange({ sold }, 'sold')}
        />
      </div>
    </Card>
  )
}

export function CentreFields({
  centre,
  at,
  faults,
  onChange,
  onRemove,
}: {
  centre: SoldDataCentre
  at: string
  faults: Faults
  onChange: (to: Partial<SoldDataCentre>, field: string) => void
  onRemove: () => void
}) {
  const words = useDeskTexts().catalog
  const isNew = centre.id === null
  return (
    <Card
      title={<Head name={centre.name || words.editor.newCentre} isNew={isNew} />}
      {...(isNew && { action: <RemoveButton onRemove={onRemove} /> })}
    >
      <div className="grid gap-5">
        <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
          {(['name', 'country', 'minDiskGb'] as const).map((field) => (
            <Typed
              key={field}
              label={words.fields[field] ?? field}
              value={centre[field]}
              fault={faults[`${at}.${field}`]}
              onChange={(text) => onChange({ [field]: text }, field)}
            />
          ))}
        </div>
        <Switch
          label={words.sold}
          hint={words.editor.stopCentreHint}
          checked={centre.sold}
          onChange={(sold) => onChange({ sold }, 'sold')}
        />
      </div>
    </Card>
  )
}

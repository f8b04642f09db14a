import { useState, type FormEvent } from 'react'
import { quoteCoupon } from '../../contract/coupons.ts'
import type { Currency } from '../../contract/money.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input } from '../ui/Field.tsx'

/** A coupon that the server has accepted for the order. */
export interface Applied {
  readonly code: string
  /** Minor units off the first month. */
  readonly off: number
}

interface Wanted {
  readonly size: number
  readonly disk: number
  readonly mariadb_disk_size: number
  readonly replicate: number
}

/** The button that opened the field is gone, so the field takes the focus. */
const focusField = (form: HTMLFormElement | null): void => form?.querySelector('input')?.focus()

/** A field for a coupon's code, shown only on request or with the code of a link. */
export function CouponField({
  order,
  given,
  currency,
  applied,
  onChange,
}: {
  order: Wanted
  /** The code of the link that the customer came by; '': none. */
  given: string
  currency: Currency
  applied: Applied | undefined
  onChange: (applied: Applied | undefined) => void
}) {
  const t = useTexts('review')
  const words = t.review.coupon
  const { money } = useFormat()
  const [attempt] = useState(() => new Attempt())
  const [open, setOpen] = useState(given !== '')
  const [code, setCode] = useState(given)
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [isAsked, setIsAsked] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    if (code.trim().length < 4) return setFault(words.empty)
    setBusy(true)
    setFault(undefined)
    try {
      const { code: known, off } = await attempt.run(quoteCoupon, {
        body: { ...order, coupon: code },
      })
      onChange({ code: known, off })
      setCode('')
    } catch (error) {
      setFault((error instanceof ApiError ? error.fields['coupon'] : undefined) ?? messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  if (applied)
    return (
      <output className="mt-3 flex flex-wrap items-center gap-3 text-sm">
        <span className="num min-w-0 flex-1 break-words">
          {words.applied(applied.code, money(applied.off, currency))}
        </span>
        <Button size="sm" variant="outline" onClick={() => (setIsAsked(true), onChange(undefined))}>
          {words.remove}
        </Button>
      </output>
    )
  if (!open)
    return (
      <Button
        size="sm"
        variant="outline"
        className="mt-3"
        onClick={() => (setIsAsked(true), setOpen(true))}
      >
        {words.have}
      </Button>
    )
  return (
    <form
      ref={isAsked ? focusField : undefined}
      noValidate
      onSubmit={(event) => void submit(event)}
      className="mt-3 flex flex-wrap items-start gap-3"
    >
      <div className="min-w-0 flex-1 basis-48">
        <Field label={words.label} error={fault}>
          {(control) => (
            <Input
              {...control}
              value={code}
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
              onChange={({ target }) => {
                setCode(target.value)
                setFault(undefined)
              }}
            />
          )}
        </Field>
      </div>
      <Button type="submit" variant="outline" busy={busy} className="mt-[26px]">
        {words.apply}
      </Button>
    </form>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { redeemVoucher } from '../../contract/vouchers.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { meQuery } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input } from '../ui/Field.tsx'

/** Redeems a voucher's code into the wallet. */
export default function VoucherCard() {
  const t = useTexts('topUp')
  const words = t.topUp.voucher
  const { money } = useFormat()
  const client = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [code, setCode] = useState('')
  const [fault, setFault] = useState<string>()
  const [done, setDone] = useState<string>()
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    if (code.trim().length < 4) return setFault(words.empty)
    setBusy(true)
    setFault(undefined)
    setDone(undefined)
    try {
      const { amount, currency } = await attempt.run(redeemVoucher, { body: { code } })
      setCode('')
      // No toast here: the wallet's event shows one.
      setDone(words.done(money(amount, currency)))
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
    } catch (error) {
      setFault((error instanceof ApiError ? error.fields['code'] : undefined) ?? messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card title={words.title}>
      <form
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-wrap items-start gap-3"
      >
        <div className="min-w-0 flex-1 basis-56">
          <Field label={words.label} error={fault} hint={done}>
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
          {words.use}
        </Button>
      </form>
    </Card>
  )
}

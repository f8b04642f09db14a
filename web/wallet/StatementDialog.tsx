import { useMutation, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { getStatement, verifierAddress } from '../../contract/wallet-proof.ts'
import { accountQuery } from '../account/queries.ts'
import { download, messageOf } from '../api.ts'
import { formatDay } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Select } from '../ui/Field.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { toast } from '../ui/toast.ts'
import { monthsLater } from './day-bounds.ts'
import { monthQuery, statementKeyQuery } from './proof-queries.ts'

const monthsOffered = 24

/**
 * yyyy-MM, from the present month back to the month in which the account began, where that is
 * known.
 */
function months(since: string | undefined): string[] {
  const present = formatDay(Date.now()).slice(0, 7)
  const first = since === undefined ? '' : formatDay(since).slice(0, 7)
  return Array.from({ length: monthsOffered }, (_, back) => monthsLater(present, -back)).filter(
    (month) => month >= first,
  )
}

/** The signed statement of a month, and how anybody can verify it. */
export default function StatementDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts('wallet')
  const { data: account } = useQuery(accountQuery)
  const offered = months(account?.createdAt)
  const [month, setMonth] = useState(offered[0] ?? '')
  const [format, setFormat] = useState<'csv' | 'json'>('csv')
  const { data: key } = useQuery(statementKeyQuery)
  const file = `statement-${month}.${format}`
  const save = useMutation({
    mutationFn: () => download(getStatement, { query: { ...monthQuery(month), format } }, file),
    onSuccess: () => toast.success(t.toast.success, t.wallet.exported),
    onError: (failure) => toast.error(t.toast.error, messageOf(failure)),
  })
  const command = `node verify-statement.mjs ${file} --key ${key?.fingerprint ?? '…'}`
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.wallet.statement}
      description={t.wallet.statementText}
      closeLabel={t.common.close}
      footer={
        <>
          <form method="dialog" className="flex">
            <Button type="submit" variant="outline" className="flex-1">
              {t.common.close}
            </Button>
          </form>
          <Button busy={save.isPending} onClick={() => save.mutate()}>
            <Download aria-hidden className="size-4" />
            {t.wallet.download}
          </Button>
        </>
      }
    >
      <div className="flex flex-wrap items-end gap-4 pt-1">
        <div className="min-w-40 flex-1">
          <Field label={t.wallet.month}>
            {(control) => (
              <Select
                {...control}
                value={month}
                onChange={(event) => setMonth(event.target.value)}
                className="num"
              >
                {offered.map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <Segmented
          label={t.wallet.format}
          value={format}
          options={[
            { value: 'csv', label: 'CSV' },
            { value: 'json', label: 'JSON' },
          ]}
          onChange={setFormat}
        />
      </div>
      <section aria-label={t.wallet.verifyTitle} className="mt-6 grid gap-2 text-sm">
        <h3 className="font-semibold">{t.wallet.verifyTitle}</h3>
        <ol className="grid list-decimal gap-2 pl-5 text-ink-2">
          <li>
            {t.wallet.verifySteps[0]}{' '}
            <a
              href={verifierAddress}
              download
              className="font-medium text-primary-ink underline underline-offset-2"
            >
              {t.wallet.verifier}
            </a>
          </li>
          <li>
            {t.wallet.verifySteps[1]}
            <span
              className={
                'mt-1.5 flex items-center gap-2 rounded-lg bg-subtle py-1 pl-3 text-ink ' +
                'dark:bg-white/5'
              }
            >
              <code className="min-w-0 flex-1 text-2xs break-all">{command}</code>
              <CopyButton
                text={command}
                label={t.common.copyOf(t.wallet.verifyTitle)}
                doneLabel={t.common.copied}
              />
            </span>
          </li>
          <li>{t.wallet.verifySteps[2]}</li>
        </ol>
      </section>
    </Dialog>
  )
}

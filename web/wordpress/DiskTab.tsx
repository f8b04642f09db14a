import { useQuery } from '@tanstack/react-query'
import { HardDriveUpload } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { diskPrice } from '../../contract/pricing.ts'
import { ruleText } from '../../contract/sentences.ts'
import { diskLimits, type Server } from '../../contract/wordpress.ts'
import { changeDisk } from '../../contract/wordpress-server.ts'
import { useFormat } from '../format.ts'
import { sentenceLanguage, useLanguage, useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { useConfig } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { BeforeAfter } from './BeforeAfter.tsx'
import { rateOf } from './order-form.ts'
import { usageQuery } from './site-queries.ts'
import { priceWithDisk } from './resize-price.ts'
import { useChange } from './use-change.ts'
import { useCharge } from './use-charge.ts'
import { wholeNumber } from '../ui/whole-number.ts'

const mbPerGb = 1024
const maxGb = Math.floor(diskLimits.maxMb / mbPerGb)

/** The SSD disk or the MariaDB disk: its size, and enlarging it. */
export default function DiskTab({ server, which }: { server: Server; which: 'disk' | 'mariadb' }) {
  const t = useTexts('site', 'parts')
  const { wordpress } = useConfig()
  const { money, disk, diskSize } = useFormat()
  const [open, setOpen] = useState(false)
  const ssd = which === 'disk'
  const running = server.status === 'running'
  const { data: usage } = useQuery({ ...usageQuery(server.id), enabled: running })
  const sizeMb = ssd ? server.disk : server.mariadb_disk_size
  const used = ssd ? usage?.disk : usage?.mariadb_disk_size
  const perGb = rateOf(ssd ? wordpress.diskPerGb : wordpress.mariadbDiskPerGb, server.currency)
  const largest = sizeMb >= maxGb * mbPerGb
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-start justify-between gap-4">
        <dl className="grid grid-cols-2 gap-x-10 gap-y-4 text-sm sm:grid-cols-4">
          <Fact term={t.resize.size}>{disk(sizeMb)} GB</Fact>
          <Fact term={t.resize.kind}>SSD</Fact>
          <Fact term={t.site.usage}>
            {used === undefined ? '–' : t.site.usageOf(diskSize(used), diskSize(sizeMb))}
          </Fact>
          <Fact term={t.resize.perMonth}>
            {perGb === 0 ? t.resize.included : money(diskPrice(sizeMb, { perGb }), server.currency)}
          </Fact>
        </dl>
        <Button
          shown={may('orders')}
          disabled={!running || largest}
          onClick={() => setOpen(true)}
          className="max-sm:w-full"
        >
          <HardDriveUpload aria-hidden className="size-4" />
          {ssd ? t.resize.upgrade : t.resize.addDisk}
        </Button>
      </div>
      {running && largest ? <p className="text-sm text-ink-3">{t.resize.largest}</p> : null}
      {running ? null : <Note tone="info">{t.resize.closed}</Note>}
      {open ? (
        <GrowDialog server={server} ssd={ssd} perGb={perGb} onClose={() => setOpen(false)} />
      ) : null}
    </div>
  )
}

function Fact({ term, children }: { term: string; children: string | (string | number)[] }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="num mt-1 font-medium">{children}</dd>
    </div>
  )
}

function GrowDialog({
  server,
  ssd,
  perGb,
  onClose,
}: {
  server: Server
  ssd: boolean
  perGb: number
  onClose: () => void
}) {
  const t = useTexts('site', 'parts')
  const { disk } = useFormat()
  const language = useLanguage()
  const fromMb = ssd ? server.disk : server.mariadb_disk_size
  const nowGb = Math.floor(fromMb / mbPerGb)
  const [typed, setTyped] = useState(String(Math.min(maxGb, nowGb + 10)))
  const { busy, refusal, field, run } = useChange(server, {
    done: t.resize.diskDone,
    failed: t.resize.diskFailed,
  })
  const toMb = (wholeNumber(typed) ?? 0) * mbPerGb
  const fits = toMb > fromMb && toMb <= diskLimits.maxMb
  let outOfBounds: string | undefined
  if (toMb > diskLimits.maxMb) outOfBounds = t.resize.tooLarge(maxGb)
  else if (toMb < diskLimits.minMb)
    outOfBounds = ruleText('disk_minimum', sentenceLanguage(language))
  const price = priceWithDisk(server, fromMb, toMb, perGb)
  const charge = useCharge(server, fits ? price : undefined)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!fits) return
    const body = {
      id: server.id,
      name: server.name,
      replicate: server.planned?.replicate ?? server.replicate,
      disk: ssd ? toMb : server.disk,
      mariadb_disk_size: ssd ? server.mariadb_disk_size : toMb,
    }
    if (await run(changeDisk, { params: { id: server.id }, body })) onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={ssd ? t.resize.upgradeTitle : t.resize.addDiskTitle}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" form="grow-disk" busy={busy} disabled={!fits}>
            {ssd ? t.resize.confirm : t.resize.addDisk}
          </Button>
        </>
      }
    >
      <form
        id="grow-disk"
        noValidate
        onSubmit={(event) => void submit(event)}
        className="grid gap-4"
      >
        <Field
          label={t.resize.newSize}
          hint={t.resize.atLeast(nowGb)}
          error={field(ssd ? 'disk' : 'mariadb_disk_size') ?? outOfBounds}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.target.value.slice(0, 6))}
              className="num max-w-32"
            />
          )}
        </Field>
        {fits ? (
          <BeforeAfter
            server={server}
            label={ssd ? t.resize.ssdTitle : t.resize.mariadbTitle}
            before={`${disk(fromMb)} GB`}
            after={`${disk(toMb)} GB`}
            price={price}
            charge={charge}
          />
        ) : null}
        {refusal === undefined ? null : (
          <Note tone="danger" role="alert">
            {refusal}
          </Note>
        )}
      </form>
    </Dialog>
  )
}

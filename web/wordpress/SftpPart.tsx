import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { addSshKey, NewSshKey, removeSshKey, type SshKey } from '../../contract/wordpress-sftp.ts'
import type { Server } from '../../contract/wordpress.ts'
import { call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { isMember } from '../may.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input, inputClass } from '../ui/Field.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { sftpQuery } from './site-queries.ts'

/** How other programs reach the files by SFTP, and the keys. */
export function SftpPart({ server }: { server: Server }) {
  const t = useTexts('parts')
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery(sftpQuery(server.id))
  const [adding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<SshKey>()
  const again = () => void queryClient.invalidateQueries({ queryKey: ['sftp', server.id] })
  return (
    <section aria-labelledby="sftp" className="grid max-w-3xl gap-4">
      <div>
        <h3 id="sftp" className="text-sm font-semibold">
          {t.sftp.title}
        </h3>
        <p className="mt-1 text-sm text-ink-2">{t.sftp.hint}</p>
      </div>
      {error && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data || error ? null : <Skeleton className="h-40 rounded-lg" />}
      {data && !data.address ? <Note tone="info">{t.sftp.off}</Note> : null}
      {data?.address ? (
        <>
          <dl className="grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[auto_minmax(0,1fr)]">
            <Fact name={t.sftp.host} value={data.address.host} />
            <Fact name={t.sftp.port} value={String(data.address.port)} />
            <Fact name={t.sftp.user} value={data.address.user} />
            <Fact
              name={t.sftp.fingerprint}
              value={data.address.fingerprint}
              hint={t.sftp.fingerprintHint}
            />
          </dl>
          <div className="flex flex-wrap items-end justify-between gap-3">
            <div className="min-w-0 flex-1 basis-64">
              <h4 className="text-sm font-medium">{t.sftp.keys}</h4>
              <p className="mt-1 text-xs text-ink-3">
                {data.keys.length === 0 ? t.sftp.noKeys : t.sftp.keysHint}
              </p>
            </div>
            <Button variant="outline" shown={!isMember()} onClick={() => setAdding(true)}>
              <Plus aria-hidden className="size-4" />
              {t.sftp.add}
            </Button>
          </div>
          {data.keys.length > 0 ? (
            <ul
              aria-label={t.sftp.keys}
              className="divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]"
            >
              {data.keys.map((key) => (
                <KeyRow key={key.id} ssh={key} onRemove={() => setLeaving(key)} />
              ))}
            </ul>
          ) : null}
        </>
      ) : null}
      {adding ? <AddDialog id={server.id} onClose={() => setAdding(false)} onDone={again} /> : null}
      {leaving ? (
        <RemoveDialog
          id={server.id}
          ssh={leaving}
          onClose={() => setLeaving(undefined)}
          onDone={again}
        />
      ) : null}
    </section>
  )
}

function Fact({ name, value, hint }: { name: string; value: string; hint?: string }) {
  const t = useTexts()
  return (
    <>
      <dt className="pt-1.5 text-ink-3">{name}</dt>
      <dd className="min-w-0">
        <span className="flex items-center gap-1">
          <code className="font-mono text-xs break-all">{value}</code>
          <CopyButton text={value} label={t.common.copyOf(value)} doneLabel={t.common.copied} />
        </span>
        {hint ? <span className="block text-xs text-ink-3">{hint}</span> : null}
      </dd>
    </>
  )
}

function KeyRow({ ssh, onRemove }: { ssh: SshKey; onRemove: () => void }) {
  const t = useTexts('parts')
  const used =
    ssh.usedAt === null
      ? t.sftp.neverUsed(formatTime(ssh.createdAt).slice(0, 16))
      : t.sftp.usedAt(formatTime(ssh.usedAt).slice(0, 16), ssh.usedFrom ?? '')
  return (
    <li className="flex items-center gap-3 py-2 pr-2 pl-4">
      <KeyRound aria-hidden className="size-4 shrink-0 text-ink-3" />
      <div className="min-w-0 flex-1">
        <p className="text-sm break-words">{ssh.name}</p>
        <p className="text-xs text-ink-3">
          <span className="font-mono break-all">
            {ssh.kind} {ssh.fingerprint}
          </span>
          <span className="block">{used}</span>
        </p>
      </div>
      {isMember() ? null : (
        <IconButton label={t.sftp.remove(ssh.name)} onClick={onRemove}>
          <Trash2 aria-hidden className="size-4" />
        </IconButton>
      )}
    </li>
  )
}

interface DialogProps {
  readonly id: string
  readonly onClose: () => void
  readonly onDone: () => void
}

function AddDialog({ id, onClose, onDone }: DialogProps) {
  const t = useTexts('parts')
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { name: '', key: '' },
    schema: NewSshKey,
    submit: async (body) => {
      const { name } = await call(addSshKey, { params: { id }, body })
      toast.success(t.toast.success, t.sftp.added(name))
      onDone()
      onClose()
    },
  })
  return (
    <Dialog
      open
      busy={busy}
      onClose={onClose}
      title={t.sftp.addTitle}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="ghost" disabled={busy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" form="add-ssh-key" busy={busy}>
            {t.sftp.add}
          </Button>
        </>
      }
    >
      <form
        id="add-ssh-key"
        ref={form}
        noValidate
        onSubmit={(event) => void onSubmit(event)}
        className="grid gap-4"
      >
        {failure && Object.keys(failure.fields).length === 0 ? (
          <Note tone="danger" role="alert">
            {failure.message}
          </Note>
        ) : null}
        <Field label={t.sftp.name} error={errors['name']} hint={t.sftp.nameHint}>
          {(control) => <Input {...control} {...bind('name')} maxLength={60} autoComplete="off" />}
        </Field>
        <Field label={t.sftp.key} error={errors['key']} hint={t.sftp.keyHint}>
          {(control) => (
            <textarea
              {...control}
              {...bind('key')}
              rows={4}
              autoCapitalize="none"
              spellCheck={false}
              className={cx(inputClass, 'h-auto py-2 font-mono text-xs break-all')}
            />
          )}
        </Field>
      </form>
    </Dialog>
  )
}

function RemoveDialog({ id, ssh, onClose, onDone }: DialogProps & { ssh: SshKey }) {
  const t = useTexts('parts')
  const [busy, setBusy] = useState(false)
  const remove = async () => {
    setBusy(true)
    try {
      await call(removeSshKey, { params: { id, key: ssh.id } })
      toast.success(t.toast.success, t.sftp.removed(ssh.name))
      onDone()
      onClose()
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      busy={busy}
      onClose={onClose}
      title={t.sftp.removeTitle(ssh.name)}
      description={t.sftp.removeText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="ghost" disabled={busy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void remove()}>
            {t.files.remove}
          </Button>
        </>
      }
    />
  )
}

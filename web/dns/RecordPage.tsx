import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useId, useRef, useState, type FormEvent } from 'react'
import { addRecord, updateRecord, type Domain, type Record } from '../../contract/dns.ts'
import type { RecordField } from '../../contract/dns-records.ts'
import { readQuoted } from '../../contract/dns-text.ts'
import { proxiable, recordTypes, type RecordType } from '../../contract/dns-types.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useDraft } from '../drafts.ts'
import { sentenceLanguage, useLanguage, useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input, Select } from '../ui/Field.tsx'
import { Note, SkeletonRows } from '../ui/State.tsx'
import { Switch } from '../ui/Switch.tsx'
import { toast } from '../ui/toast.ts'
import { DomainHead } from './DomainHead.tsx'
import { NoDomain } from './NoDomain.tsx'
import { domainQuery } from './queries.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { emptyForm, formOf, missingFrom, type RecordForm } from './record-form.ts'
import { SetNote } from './SetNote.tsx'
import { ttlText } from './wording.ts'

/** The page around the form of one record: shown once the domain is known. */
export function RecordPage({
  id,
  record,
  onReload,
}: {
  id: string
  record?: Record
  onReload?: () => void
}) {
  const domain = useQuery(domainQuery(id))
  if (domain.isPending) return <SkeletonRows rows={6} className="card p-5" />
  if (!domain.data) return <NoDomain error={domain.error} onRetry={() => void domain.refetch()} />
  // A reloaded record gets a new form: the key changes with its version.
  return (
    <RecordEditor key={record?.version} domain={domain.data} record={record} onReload={onReload} />
  )
}

function RecordEditor({
  domain,
  record,
  onReload,
}: {
  domain: Domain
  record: Record | undefined
  onReload: (() => void) | undefined
}) {
  const t = useTexts('dns', 'dnsRecord')
  const router = useRouter()
  const queryClient = useQueryClient()
  const language = sentenceLanguage(useLanguage())
  const formId = useId()
  const form = useRef<HTMLFormElement>(null)
  const [attempt] = useState(() => new Attempt())
  const [values, setValues] = useDraft<RecordForm>('record', () =>
    record ? formOf(record) : emptyForm,
  )
  const [errors, setErrors] = useState<Partial<{ [F in RecordField]: string }>>({})
  const [refusal, setRefusal] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [overtaken, setOvertaken] = useState(false)

  const editing = record !== undefined
  const withPriority = editing || values.type === 'MX'
  const title = editing ? t.record.editTitle : t.record.addTitle
  const offers = domain.capabilities.proxied
  const unquoted = values.type === 'TXT' ? readQuoted(values.content) : undefined
  const set = <K extends keyof RecordForm>(key: K, value: RecordForm[K]) => {
    setValues((now) => ({ ...now, [key]: value }))
    setErrors({})
  }

  const complain = (found: Partial<{ [F in RecordField]: string }>) => {
    setErrors(found)
    requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    )
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setRefusal(undefined)
    const missing = missingFrom(values, withPriority)
    if (missing.length > 0) {
      toast.error(t.toast.error, t.record.missing)
      return complain(Object.fromEntries(missing.map((field) => [field, t.record.required])))
    }
    setBusy(true)
    try {
      // The rules and their sentences are loaded on demand.
      const { readForm } = await loadWanted(() => import('./read-form.ts'))
      const read = readForm(values, domain, language)
      if ('errors' in read) {
        toast.error(t.toast.error, editing ? t.record.editFailed : t.record.failed)
        return complain(read.errors)
      }
      const body = { ...read.body, id: domain.id }
      const { alsoChanged, ttl } = record
        ? await attempt.run(updateRecord, {
            params: { id: domain.id, recordId: record.id },
            body: { ...body, version: record.version },
          })
        : await attempt.run(addRecord, { params: { id: domain.id }, body })
      toast.success(
        t.toast.success,
        alsoChanged
          ? t.record.savedAlong(alsoChanged.length, ttlText(ttl, t.records))
          : t.record.saved,
      )
      void queryClient.invalidateQueries({ queryKey: ['dns'] })
      await router.navigate({ to: '/dns/domain/$id', params: { id: domain.id } })
    } catch (error) {
      const fields = error instanceof ApiError ? error.fields : {}
      complain(fields)
      // An error that belongs to no field of the form is shown above it.
      if (!['name', 'type', 'content', 'ttl', 'priority'].some((field) => field in fields))
        setRefusal(messageOf(error))
      setOvertaken(editing && error instanceof ApiError && error.code === 'conflict')
      toast.error(t.toast.error, editing ? t.record.editFailed : t.record.failed)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <title>{`${title} · ${domain.name} · ${brand}`}</title>
      <DomainHead domain={domain} back="records" />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_340px]">
        <Card title={title}>
          <form
            ref={form}
            id={formId}
            noValidate
            onSubmit={(event) => void submit(event)}
            className="grid max-w-2xl gap-4"
          >
            {refusal === undefined ? null : (
              <Note tone="danger" role="alert">
                {refusal}
                {overtaken ? (
                  <Button variant="outline" size="sm" className="mt-2 flex" onClick={onReload}>
                    {t.record.reload}
                  </Button>
                ) : null}
              </Note>
            )}
            <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_160px]">
              <Field label={t.record.name} error={errors.name}>
                {(control) => (
                  <Input
                    {...control}
                    name="name"
                    value={values.name}
                    placeholder={t.record.namePlaceholder}
                    autoComplete="off"
                    autoCapitalize="none"
                    spellCheck={false}
                    maxLength={253}
                    onChange={(event) => set('name', event.target.value)}
                  />
                )}
              </Field>
              <Field label={t.record.type}>
                {(control) => (
                  <Select
                    {...control}
                    name="type"
                    value={values.type}
                    onChange={(event) => set('type', event.target.value as RecordType)}
                  >
                    {recordTypes.map((type) => (
                      <option key={type}>{type}</option>
                    ))}
                  </Select>
                )}
              </Field>
            </div>
            <Field
              label={t.record.labels[values.type]}
              error={errors.content}
              hint={
                typeof unquoted === 'string' ? (
                  <span className="wrap-anywhere">{t.record.quoted(unquoted)}</span>
                ) : undefined
              }
            >
              {(control) => (
                <Input
                  {...control}
                  name="content"
                  value={values.content}
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                  className="font-mono"
                  onChange={(event) => set('content', event.target.value)}
                />
              )}
            </Field>
            <div className="grid gap-4 sm:grid-cols-2">
              <Field
                label={t.record.ttl}
                aside={t.record.ttlAside}
                error={errors.ttl}
                hint={ttlHint(values.ttl, t)}
              >
                {(control) => (
                  <Input
                    {...control}
                    name="ttl"
                    inputMode="numeric"
                    value={values.ttl}
                    autoComplete="off"
                    onChange={(event) => set('ttl', event.target.value)}
                  />
                )}
              </Field>
              {withPriority ? (
                <Field
                  label={t.record.priority}
                  error={errors.priority}
                  hint={values.type === 'MX' ? t.record.priorityHint : t.record.priorityUnused}
                >
                  {(control) => (
                    <Input
                      {...control}
                      name="priority"
                      inputMode="numeric"
                      value={values.priority}
                      autoComplete="off"
                      onChange={(event) => set('priority', event.target.value)}
                    />
                  )}
                </Field>
              ) : null}
            </div>
            {offers ? (
              <Switch
                label={t.record.proxied}
                hint={proxiable(values.type) ? t.record.proxiedHint : t.record.proxiedType}
                checked={values.proxied && proxiable(values.type)}
                disabled={!proxiable(values.type)}
                onChange={(on) => set('proxied', on)}
              />
            ) : null}
          </form>
        </Card>
        <Card title={t.record.summary} className="lg:sticky lg:top-20">
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
            {(
              [
                [t.record.name, values.name],
                [t.record.type, values.type],
                [t.record.ttl, values.ttl],
                [
                  values.type === 'A' || values.type === 'AAAA'
                    ? t.record.ip
                    : t.record.labels[values.type],
                  unquoted ?? values.content,
                ],
                ...(offers && proxiable(values.type)
                  ? ([
                      [t.records.proxy, values.proxied ? t.records.proxied : t.records.direct],
                    ] as const)
                  : []),
              ] as const
            ).map(([label, value]) => (
              <div key={label} className="contents">
                <dt className="text-ink-3">{label}</dt>
                <dd className="text-right font-medium break-all">
                  {value.trim() === '' ? '___' : value}
                </dd>
              </div>
            ))}
          </dl>
          <SetNote domain={domain} record={record} values={values} />
          <Button
            type="submit"
            form={formId}
            size="lg"
            shown={may('domains:write')}
            busy={busy}
            className="mt-5 w-full"
          >
            {t.record.save}
          </Button>
          <Link
            to="/dns/domain/$id"
            params={{ id: domain.id }}
            className={`${buttonClass('ghost')} mt-2 w-full`}
          >
            {t.common.cancel}
          </Link>
        </Card>
      </div>
    </>
  )
}

function ttlHint(
  typed: string,
  t: ReturnType<typeof useTexts<'dns' | 'dnsRecord'>>,
): string | undefined {
  const seconds = /^\d{1,6}$/.test(typed.trim()) ? Number(typed) : 0
  return seconds >= 60 ? `≈ ${ttlText(seconds, t.records)}` : undefined
}

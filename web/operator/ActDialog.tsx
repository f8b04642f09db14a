import { useQueryClient } from '@tanstack/react-query'
import { Fragment, useId, useState } from 'react'
import type { RequestKind } from '../../contract/data-requests.ts'
import { toMinor, withoutGroups, type Currency } from '../../contract/money.ts'
import type { ActName, ActOutcome } from '../../contract/operator-acts.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import type { Priority } from '../../contract/tickets-desk.ts'
import type { SuspensionCause } from '../../contract/wordpress-mail.ts'
import { TypedFrame } from '../shell/TypedFrame.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input, inputClass, Select, type FieldControl } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { endpointOfAct, fieldsOf, isGrave, type ActField } from './act-fields.ts'
import { call, newKey } from './api.ts'
import { BalanceAfter, type WalletBefore } from './BalanceAfter.tsx'
import { EventChoice } from './EventChoice.tsx'
import type { OperatorTexts } from '../i18n/en-operator.ts'
import { enTyped } from '../i18n/en-typed.ts'
import { viTyped } from '../i18n/vi-typed.ts'
import { useDeskLanguage, useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'
import { NodeChoice } from './NodeChoice.tsx'
import { PlanChoice } from './PlanChoice.tsx'
import { SecretDialog } from './SecretDialog.tsx'
import { useDeskForm, type Values } from './use-form.ts'

export interface WantedAct {
  readonly act: ActName
  /**
   * The customer or thing that the act is about, for the dialog's title; absent when the act makes
   * something.
   */
  readonly about?: string
  /** Fields whose values are already known. */
  readonly fixed: Readonly<Record<string, unknown>>
  readonly initial?: Values
  /** The currency of the amount; without it the form has a field for it. */
  readonly currency?: Currency
  /** That the amount goes into, or out of. */
  readonly wallet?: WalletBefore
  /** What a choice is among, where that is known only now. */
  readonly options?: Readonly<Record<string, readonly string[]>>
}

/** A dialog that asks for an act's fields and its reason, and performs the act. */
export function ActDialog({
  wanted,
  onClose,
  onDone,
}: {
  wanted: WantedAct
  onClose: () => void
  /** Called after the act was done or proposed, instead of `onClose`. */
  onDone?: () => void
}) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const client = useQueryClient()
  const formId = useId()
  // Idempotency key: a press that is sent twice acts once.
  const [key] = useState(newKey)
  const [link, setLink] = useState<string>()
  const [secret, setSecret] = useState<string>()
  const [notice, setNotice] = useState<string>()
  const { act, about, fixed, initial = {}, currency, wallet } = wanted
  const fields = fieldsOf(act).map((field) => {
    const options = wanted.options?.[field.name]
    return options ? { ...field, options } : field
  })
  const name = t.acts[act] ?? act
  const title = about === undefined ? name : `${name} · ${about}`
  const endpoint = endpointOfAct(act)
  const form = useDeskForm({
    initial: Object.fromEntries(
      fields.map((field) => [field.name, initial[field.name] ?? field.options?.[0] ?? '']),
    ),
    schema: endpoint.body,
    body: (values) => bodyOf(fields, values, { ...fixed, key }, currency, t),
    submit: async (body) => {
      const outcome: ActOutcome = await call(endpoint, { body } as never)
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      if (outcome.notice !== undefined) return setNotice(outcome.notice)
      if (outcome.state === 'proposed') toast.success(t.waits, t.proposed)
      else toast.success(t.done, title)
      // If the browser blocks the new tab, the dialog shows the link instead.
      if (outcome.secret !== undefined) setSecret(outcome.secret)
      else if (outcome.link !== undefined && window.open(outcome.link, '_blank') === null)
        setLink(outcome.link)
      else (onDone ?? onClose)()
    },
  })
  if (secret !== undefined)
    return <SecretDialog secret={secret} onClose={() => (onDone ?? onClose)()} />
  if (notice !== undefined)
    return (
      <Dialog
        open
        onClose={() => (onDone ?? onClose)()}
        title={t.waits}
        closeLabel={t.close}
        footer={
          <>
            <DeskLink to="/staff" className={buttonClass('outline')}>
              {t.proposals.toStaff}
            </DeskLink>
            <Button onClick={() => (onDone ?? onClose)()}>{t.proposals.understood}</Button>
          </>
        }
      >
        <p className="mb-3 text-sm font-medium">{title}</p>
        <Note tone="warning" role="alert">
          {notice}
        </Note>
      </Dialog>
    )
  // Whoever wrote a paragraph does not lose it by a press that goes astray.
  const isTyped = fields.some(
    ({ name: field, kind }) =>
      kind === 'paragraph' &&
      (form.values[field] ?? '').trim() !== '' &&
      form.values[field] !== initial[field],
  )
  return (
    <TypedFrame
      onClose={onClose}
      isTyped={isTyped}
      words={language === 'vi' ? viTyped : enTyped}
      busy={form.busy}
      title={title}
      {...(t.explain[act] === undefined ? {} : { description: t.explain[act] })}
      closeLabel={t.close}
      footer={(leave) => (
        <>
          <Button variant="outline" onClick={leave}>
            {t.cancel}
          </Button>
          <Button
            type="submit"
            form={formId}
            variant={isGrave(act) ? 'danger' : 'primary'}
            busy={form.busy}
          >
            {name}
          </Button>
        </>
      )}
    >
      <form
        id={formId}
        noValidate
        onSubmit={(event) => void form.onSubmit(event)}
        className="grid gap-4"
      >
        {form.failure ? (
          // Scrolls the error into view. The button below stays in view anyway.
          <div ref={(shown) => shown?.scrollIntoView({ block: 'nearest' })}>
            <Note tone="danger" role="alert">
              {form.failure}
            </Note>
          </div>
        ) : null}
        {link === undefined ? null : (
          <Note tone="warning" role="alert">
            {t.view.blocked}{' '}
            <a
              href={link}
              target="_blank"
              rel="noopener"
              className="font-medium underline"
              onClick={onClose}
            >
              {t.view.open}
            </a>
          </Note>
        )}
        {fields.map((field) => (
          <Fragment key={field.name}>
            <Field
              label={labelOf(field, currency, t)}
              error={form.errors[field.name]}
              aside={field.isOptional ? t.fields.optional : undefined}
              hint={hintOf(field, t)}
            >
              {(control) => (
                <Control
                  field={field}
                  control={control}
                  bound={form.bind(field.name)}
                  onFile={(name, text) => {
                    form.set('fileName', name)
                    form.set('file', text)
                  }}
                />
              )}
            </Field>
            {field.name === 'amount' && wallet && currency ? (
              <BalanceAfter of={wallet} typed={form.values['amount'] ?? ''} currency={currency} />
            ) : null}
          </Fragment>
        ))}
      </form>
    </TypedFrame>
  )
}

/** The call's body. For an invalid amount it returns our own message instead of the schema's. */
function bodyOf(
  fields: readonly ActField[],
  values: Values,
  known: Readonly<Record<string, unknown>>,
  currency: Currency | undefined,
  t: OperatorTexts,
): { body: unknown; faults: Values } {
  const faults: Values = {}
  const money = currency ?? (values['currency'] as Currency | undefined)
  const typed = fields.flatMap(({ name, kind, isOptional, mayBeZero }): [string, unknown][] => {
    const text = values[name]?.trim() ?? ''
    if (kind === 'list' || kind === 'events' || kind === 'plans') {
      const parts = text.split(/[\s,]+/).filter(Boolean)
      return [[name, parts]]
    }
    if (text === '' && isOptional) return []
    // The field shows the browser's own time zone.
    if (kind === 'moment')
      return [[name, Number.isNaN(Date.parse(text)) ? text : new Date(text).toISOString()]]
    if (kind === 'count') return [[name, /^\d{1,6}$/.test(text) ? Number(text) : text]]
    if (kind === 'file')
      return [
        [name, text],
        ['fileName', values['fileName'] ?? ''],
      ]
    if (kind !== 'amount' || money === undefined) return [[name, text]]
    const minor = toMinor(withoutGroups(text, money), money)
    if (minor === undefined || minor < (mayBeZero ? 0 : 1)) faults[name] = t.fields.amountWrong
    return [[name, minor ?? 1]]
  })
  return { body: { ...known, ...Object.fromEntries(typed) }, faults }
}

function labelOf(
  { name, kind, label = name }: ActField,
  currency: Currency | undefined,
  t: OperatorTexts,
) {
  if (name === 'limit' && currency !== undefined) return t.fields.limitOf(currency)
  if (kind === 'amount' && currency !== undefined) return t.fields.amountOf(currency)
  return String(t.fields[label as keyof OperatorTexts['fields']])
}
function hintOf({ name, isOptional, hint }: ActField, t: OperatorTexts): string | undefined {
  if (hint !== undefined) return String(t.fields[hint as keyof OperatorTexts['fields']])
  if (name === 'reason') return t.fields.reasonHint
  if (name === 'told') return t.fields.toldHint
  if (name === 'networks') return t.fields.networksHint
  if (name === 'startsAt') return t.fields.startsAtHint
  if (name === 'endsAt') return t.fields.endsAtHint
  if (name === 'closes') return t.fields.closesHint
  if (name === 'poweredOff') return t.fields.poweredOffHint
  if (name === 'file') return t.fields.fileHint
  if (name === 'code') return t.fields.codeHint
  if (name === 'reference') return t.fields.referenceHint
  return name === 'amount' && isOptional ? t.fields.amountHint : undefined
}

function optionLabel(name: string, option: string, t: OperatorTexts): string {
  if (name === 'role') return t.roles[option as StaffRole]
  if (name === 'kind')
    return (
      (t.status.kinds as Record<string, string>)[option] ?? t.privacy.kinds[option as RequestKind]
    )
  if (name === 'cause') return t.customer.mailCauses[option as SuspensionCause]
  if (name === 'outcome') return t.money.reconciliation.outcomes[option] ?? option
  if (name === 'priority') return t.tickets.priorities[option as Priority]
  if (name === 'closes' || name === 'poweredOff' || name === 'letters')
    return option === 'yes' ? t.yes : t.no
  return (t.languages as Record<string, string>)[option] ?? option
}

function Control({
  field: { name, kind, options = [] },
  control,
  bound,
  onFile,
}: {
  field: ActField
  control: FieldControl
  onFile: (name: string, text: string) => void
  bound: { value: string; onChange: (event: { target: { value: string } }) => void }
}) {
  const t = useDeskTexts()
  if (kind === 'paragraph')
    return <textarea {...control} {...bound} rows={3} className={`${inputClass} h-auto py-2`} />
  if (kind === 'events')
    return (
      <EventChoice
        {...control}
        value={bound.value}
        onChange={(value) => bound.onChange({ target: { value } })}
      />
    )
  if (kind === 'plans')
    return (
      <PlanChoice
        {...control}
        value={bound.value}
        onChange={(value) => bound.onChange({ target: { value } })}
      />
    )
  if (kind === 'node') return <NodeChoice {...control} {...bound} />
  if (kind === 'choice')
    return (
      <Select {...control} {...bound}>
        {options.map((option) => (
          <option key={option} value={option}>
            {optionLabel(name, option, t)}
          </option>
        ))}
      </Select>
    )
  if (kind === 'file')
    return (
      <input
        {...control}
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        className={`${inputClass} h-auto py-2 text-sm`}
        onChange={({ target: { files } }) => {
          const [file] = files ?? []
          if (file) void file.text().then((text) => onFile(file.name, text))
        }}
      />
    )
  return (
    <Input
      {...control}
      {...bound}
      autoComplete="off"
      inputMode={kind === 'amount' ? 'decimal' : undefined}
      type={inputTypes[kind] ?? 'text'}
    />
  )
}
const inputTypes: Readonly<Record<string, string>> = { moment: 'datetime-local', day: 'date' }

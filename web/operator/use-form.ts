/**
 * Forms of the desk: validation by the contract's schema, and the server's errors at the fields.
 */
import { useState, type FormEvent } from 'react'
import type * as z from 'zod/mini'
import { fieldMessage } from '../../contract/sentences.ts'
import { DeskError } from './api.ts'
import { deskLanguage } from './language.ts'

export type Values = Record<string, string>

export function useDeskForm<S extends z.ZodMiniType>({
  initial,
  schema,
  body,
  submit,
}: {
  initial: Values
  schema: S
  /** The body for the schema, and our own errors by field name. */
  body: (values: Values) => { body: unknown; faults?: Values }
  submit: (body: z.output<S>) => Promise<void>
}) {
  const [values, setValues] = useState(initial)
  const [errors, setErrors] = useState<Values>({})
  const [failure, setFailure] = useState('')
  const [busy, setBusy] = useState(false)

  const set = (name: string, value: string) => {
    setValues((now) => ({ ...now, [name]: value }))
    setErrors(({ [name]: _gone, ...rest }) => rest)
  }
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy) return
    setFailure('')
    const form = event.currentTarget
    const focusFirst = () =>
      requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
    const { body: wanted, faults = {} } = body(values)
    const read = schema.safeParse(wanted, { reportInput: true })
    const found: Values = { ...faults }
    if (!read.success)
      for (const issue of read.error.issues) {
        const name = String(issue.path[0] ?? 'body')
        found[name] ??= fieldMessage(issue as Parameters<typeof fieldMessage>[0], deskLanguage())
      }
    setErrors(found)
    if (!read.success || Object.keys(found).length > 0) return focusFirst()
    setBusy(true)
    try {
      await submit(read.data)
    } catch (error) {
      if (!(error instanceof DeskError)) throw error
      const ofForm = Object.fromEntries(
        Object.entries(error.fields).filter(([name]) => name in initial),
      )
      setErrors(ofForm)
      // An error about a field that the form lacks is more precise than the general refusal.
      const others = Object.entries(error.fields).flatMap(([name, text]) =>
        name in initial ? [] : [text],
      )
      if (Object.keys(ofForm).length === 0) setFailure(others.join(' ') || error.message)
      focusFirst()
    } finally {
      setBusy(false)
    }
  }
  const bind = (name: string) => ({
    name,
    value: values[name] ?? '',
    onChange: (event: { target: { value: string } }) => set(name, event.target.value),
  })
  return { values, errors, failure, busy, set, bind, onSubmit }
}

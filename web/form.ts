/**
 * Forms: values, the contract's schema as validation, and the server's field errors in the same
 * place.
 */
import { useRef, useState, type FormEvent } from 'react'
import type * as z from 'zod/mini'
import { fieldMessage } from '../contract/sentences.ts'
import { ApiError } from './api.ts'
import { useDraft } from './drafts.ts'
import { sentenceLanguage, useLanguage } from './i18n/index.ts'

export type FieldErrors = Record<string, string>
type Language = 'en' | 'vi'

/** The fields of `now` that differ from `before`. */
export const differing = <B extends object>(now: B, before: B): Partial<B> =>
  Object.fromEntries(
    Object.entries(now).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof B]),
    ),
  ) as Partial<B>

/**
 * First message per field; the key of a nested field is its path with dots, as the server writes
 * it.
 */
export function fieldErrors(issues: readonly z.core.$ZodIssue[], language: Language): FieldErrors {
  const errors: FieldErrors = {}
  for (const issue of issues) {
    const key = issue.path.join('.')
    errors[key] ??= fieldMessage(issue as Parameters<typeof fieldMessage>[0], language)
  }
  return errors
}

/** The errors without one field: a message disappears as soon as its field is edited. */
export const without = (errors: FieldErrors, key: string): FieldErrors =>
  Object.fromEntries(Object.entries(errors).filter(([name]) => name !== key))

interface FormOptions<V extends object, S extends z.ZodMiniType> {
  initial: V
  schema: S
  /** The body for the schema, where it is not the values themselves. */
  body?: (values: V, begun: V) => unknown
  submit: (body: z.output<S>) => Promise<void>
  /** The fields that are stored as a draft when the session ends; never a password or a code. */
  keep?: readonly (keyof V & string)[]
  /**
   * `initial` is the stored state. An untouched form follows its changes, and a saved form counts
   * as untouched.
   */
  follows?: boolean
}

const pick = <V extends object>(values: V, names: readonly (keyof V & string)[]): Partial<V> =>
  Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<V>

export function useForm<V extends object, S extends z.ZodMiniType>({
  initial,
  schema,
  body,
  submit,
  keep,
  follows,
}: FormOptions<V, S>) {
  const language = sentenceLanguage(useLanguage())
  const [values, setValues, { begun, setBegun }] = useDraft<V>(
    Object.keys(initial).join(),
    initial,
    (now) => keep && { ...initial, ...pick(now, keep) },
  )
  if (follows && values === begun && JSON.stringify(begun) !== JSON.stringify(initial)) {
    setBegun(initial)
    setValues(initial)
  }
  const [errors, setErrors] = useState<FieldErrors>({})
  const [failure, setFailure] = useState<ApiError | undefined>()
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)

  const set = <K extends keyof V & string>(key: K, value: V[K]) => {
    setValues((now) => ({ ...now, [key]: value }))
    setErrors((now) => without(now, key))
  }

  /** In the next frame, after the state has been rendered. */
  const focusOn = (selector: string) =>
    void requestAnimationFrame(() => form.current?.querySelector<HTMLElement>(selector)?.focus())
  const focusFirstError = () => focusOn('[aria-invalid=true]')

  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setFailure(undefined)
    const checked = schema.safeParse(body ? body(values, begun) : values, { reportInput: true })
    if (!checked.success) {
      setErrors(fieldErrors(checked.error.issues, language))
      focusFirstError()
      return
    }
    setErrors({})
    setBusy(true)
    try {
      await submit(checked.data)
      if (follows) setBegun(values)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setErrors(error.fields)
      setFailure(error)
      focusFirstError()
      // A refused code cannot be used again, so its field is cleared.
      if (error.code.startsWith('otp_')) {
        setValues((now) => ({ ...now, code: '' }))
        focusOn('[name=code]')
      }
    } finally {
      setBusy(false)
    }
  }

  /** The props of a text control. */
  const bind = <K extends keyof V & string>(key: K) => ({
    name: key,
    value: values[key] as string,
    onChange: (event: { target: { value: string } }) => set(key, event.target.value as V[K]),
  })

  return { form, values, errors, failure, busy, set, bind, focusOn, onSubmit }
}

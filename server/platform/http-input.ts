/** Parses a caller's input by the schema of the call. */
import * as z from 'zod'
import {
  fieldMessage,
  hasOwnSentence,
  type Endpoint,
  type Issue,
  type Language,
  type Output,
} from '../../contract/index.ts'
import { Refusal } from './errors.ts'

/** The body of a call without one: none, or an empty object. */
export const noBody = z.strictObject({})

/**
 * A body may have a thousand faults; only the first are reported, so that a response is never
 * longer than its request.
 */
const maxFieldsShown = 50
/** Characters of a field's name that are repeated: a caller may send any, and answers are kept. */
const maxNameShown = 100

function fieldsOf(issues: readonly z.core.$ZodIssue[], language: Language): Record<string, string> {
  // A map, because a caller may well name a field `constructor`.
  const fields = new Map<string, string>()
  for (const issue of issues) {
    if (fields.size >= maxFieldsShown) break
    const names =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => [...issue.path, key].join('.'))
        : [issue.path.join('.') || 'body']
    for (const whole of names.slice(0, maxFieldsShown)) {
      const name = whole.length > maxNameShown ? `${whole.slice(0, maxNameShown)}…` : whole
      if (!fields.has(name) && fields.size < maxFieldsShown)
        fields.set(name, fieldMessage(issue as Issue, language))
    }
  }
  return Object.fromEntries(fields)
}

/**
 * The path of a text that PostgreSQL cannot store: one with NUL or half a surrogate pair.
 * Undefined: there is none.
 */
export function unstorable(value: unknown, path: string): string | undefined {
  if (typeof value === 'string')
    return value.includes('\0') || !value.isWellFormed() ? path || 'body' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const found = unstorable(inner, path === '' ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** The value as its schema reads it. Refuses with invalid_input, one sentence a field. */
export const checkInput = <S extends Endpoint['body']>(
  schema: S,
  value: unknown,
  language: Language,
): Output<S> => {
  if (!schema) return undefined as Output<S>
  // `reportInput`, so that a field of the wrong type is not called missing.
  const parsed = z.core.safeParse(schema, value, { reportInput: true })
  if (!parsed.success) {
    const { issues } = parsed.error
    throw new Refusal('invalid_input', {
      fields: fieldsOf(issues, language),
      isGeneral: !issues.every((issue) => hasOwnSentence(issue as Issue)),
    })
  }
  const unfit = unstorable(parsed.data, '')
  if (unfit !== undefined)
    throw new Refusal('invalid_input', {
      fields: { [unfit]: fieldMessage({}, language) },
      isGeneral: true,
    })
  return parsed.data as Output<S>
}

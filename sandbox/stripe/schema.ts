/** Checks a request against Stripe's published schema, with Stripe's own error messages. */
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Fields } from './form.ts'
import { invalid, type Answer } from './answer.ts'

const { operations } = JSON.parse(
  readFileSync(new URL('requests.json', import.meta.url), 'utf8'),
) as { operations: Record<string, object> }
const ajv = new Ajv({ strict: false, coerceTypes: true, validateFormats: false })
const compiled = new Map<string, ValidateFunction>()

export interface Matched {
  /** 'POST /v1/payment_intents/{intent}' */
  readonly operation: string
  /** The intent's id in the path. */
  readonly id: string
}

const patterns = Object.keys(operations).map((operation) => {
  const [method = '', path = ''] = operation.split(' ')
  return {
    operation,
    method,
    shape: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
    fixed: !path.includes('{'),
  }
})

/**
 * The operation of a call, if the stand-in has it. A fixed path takes precedence over one with an
 * id.
 */
export function operationOf(method: string, path: string): Matched | undefined {
  const fitting = patterns.filter(
    (pattern) => pattern.method === method && pattern.shape.test(path),
  )
  const found = fitting.find(({ fixed }) => fixed) ?? fitting[0]
  return (
    found && {
      operation: found.operation,
      id: decodeURIComponent(found.shape.exec(path)?.[1] ?? ''),
    }
  )
}

/**
 * Converts texts into numbers and booleans in place, as the schema says; returns the error, if any.
 */
export function fault(operation: string, fields: Fields): Answer | undefined {
  let validate = compiled.get(operation)
  if (validate === undefined) {
    validate = ajv.compile(operations[operation] ?? {})
    compiled.set(operation, validate)
  }
  if (validate(fields)) return undefined
  const error = validate.errors?.[0]
  const params = error?.params as
    | { additionalProperty?: string; missingProperty?: string }
    | undefined
  if (params?.additionalProperty !== undefined)
    return invalid(`Received unknown parameter: ${params.additionalProperty}`, {
      code: 'parameter_unknown',
      param: params.additionalProperty,
    })
  if (params?.missingProperty !== undefined)
    return invalid(`Missing required param: ${params.missingProperty}.`, {
      code: 'parameter_missing',
      param: params.missingProperty,
    })
  const param = (error?.instancePath ?? '').slice(1).replaceAll('/', '.')
  return invalid(`Invalid ${param}: ${error?.message ?? 'not valid'}`, { param })
}

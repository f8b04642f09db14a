/** Checks a request against Square's published schema. */
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'

const document = JSON.parse(
  readFileSync(new URL('requests.json', import.meta.url), 'utf8'),
) as object
const ajv = new Ajv({ strict: false, validateFormats: false })
ajv.addSchema(document, 'square')
const compiled = new Map<string, ValidateFunction>()

export function faultIn<T>(
  name: string,
  body: Buffer,
): { readonly fault: string } | { readonly read: T } {
  const validate = compiled.get(name) ?? ajv.compile({ $ref: `square#/components/schemas/${name}` })
  compiled.set(name, validate)
  let read: unknown
  try {
    read = JSON.parse(body.toString('utf8'))
  } catch {
    return { fault: 'The body is not JSON.' }
  }
  return validate(read) ? { read: read as T } : { fault: ajv.errorsText(validate.errors) }
}

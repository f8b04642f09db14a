/** Stripe's answers and errors. */
export interface Answer {
  readonly status: number
  readonly body: object
}
type Detail = { readonly code?: string; readonly param?: string }

const fail = (status: number, type: string, message: string, more: object = {}): Answer => ({
  status,
  body: { error: { type, message, ...more } },
})

export const ok = (body: object): Answer => ({ status: 200, body })
export const invalid = (message: string, detail: Detail = {}, status = 400): Answer =>
  fail(status, 'invalid_request_error', message, detail)
export const missing = (what: string, id: string, param: string): Answer =>
  invalid(`No such ${what}: '${id}'`, { code: 'resource_missing', param }, 404)
export const unauthorized = (): Answer =>
  fail(401, 'invalid_request_error', 'Invalid API Key provided.')
export const reused = (): Answer =>
  fail(
    400,
    'idempotency_error',
    'Keys for idempotent requests can only be used with the same parameters they were first ' +
      'used with.',
  )
export const declined = (
  decline: { code: string; decline_code?: string; message: string },
  more: object,
): Answer =>
  fail(402, 'card_error', decline.message, {
    code: decline.code,
    ...(decline.decline_code && { decline_code: decline.decline_code }),
    ...more,
  })

/** Calls the API as a client would. */

export interface Answer<T = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    statusCode: number
    message: string
    result: T
    page?: { next: string | null }
    error?: { code: string; fields?: Record<string, string>; requestId: string }
  }
}

export type Call = <T = unknown>(
  method: string,
  path: string,
  options?: { body?: unknown; token?: string; headers?: Record<string, string> },
) => Promise<Answer<T>>

/** A body that is text goes out as it is. */
export const callsTo =
  (origin: string): Call =>
  async <T>(method: string, path: string, { body, token, headers }: Parameters<Call>[2] = {}) => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      parsed = undefined
    }
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: parsed as Answer<T>['body'],
    }
  }

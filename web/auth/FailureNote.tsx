import type { ApiError } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Note } from '../ui/State.tsx'

/** The server's refusal, and how long to wait where it says so. */
export function FailureNote({ failure }: { failure: ApiError | undefined }) {
  const t = useTexts()
  if (failure === undefined) return null
  return (
    <Note tone="danger" role="alert">
      {failure.message}
      {failure.code === 'rate_limited' && failure.retryAfter !== undefined
        ? ` ${t.common.waitSeconds(failure.retryAfter)}`
        : ''}
    </Note>
  )
}

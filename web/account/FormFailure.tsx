import type { ApiError } from '../api.ts'
import { Note } from '../ui/State.tsx'

/** What the server said about the whole form; what it says of single fields stands there. */
export function FormFailure({ failure }: { failure: ApiError | undefined }) {
  if (!failure || Object.keys(failure.fields).length > 0) return null
  return (
    <Note tone="danger" role="alert">
      {failure.message}
    </Note>
  )
}

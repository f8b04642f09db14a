import type { ApiError } from '../api.ts'
import { Note } from '../ui/State.tsx'

/**
 * The server's message about the whole form; messages about single fields are shown at the fields.
 */
export function FormFailure({ failure }: { failure: ApiError | undefined }) {
  if (!failure || Object.keys(failure.fields).length > 0) return null
  return (
    <Note tone="danger" role="alert">
      {failure.message}
    </Note>
  )
}

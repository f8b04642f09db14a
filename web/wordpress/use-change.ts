/**
 * Requests another size, number of containers or name: one request at a time, with a toast for
 * success or refusal.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import type { changeDisk, changeServer } from '../../contract/wordpress-server.ts'
import { ApiError, Attempt, messageOf, type CallInput } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { toast } from '../ui/toast.ts'
import { serverQuery } from './queries.ts'

type Change = typeof changeDisk | typeof changeServer

export function useChange(server: Server, words: { done: string; failed: string }) {
  const t = useTexts()
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const fields = error instanceof ApiError ? error.fields : {}

  /** True when it succeeded. */
  async function run<E extends Change>(endpoint: E, input: CallInput<E>): Promise<boolean> {
    if (busy) return false
    setBusy(true)
    setError(undefined)
    try {
      const changed = (await attempt.run(endpoint, input)) as Server
      queryClient.setQueryData(serverQuery(server.id).queryKey, changed)
      for (const subject of [
        'servers',
        'invoices',
        'me',
        'transactions',
        'subscriptions',
        'runway',
      ])
        void queryClient.invalidateQueries({ queryKey: [subject] })
      toast.success(t.toast.success, words.done)
      return true
    } catch (failure) {
      setError(failure)
      // Prices may have changed.
      void queryClient.invalidateQueries({ queryKey: ['plans'] })
      toast.error(t.toast.error, words.failed)
      return false
    } finally {
      setBusy(false)
    }
  }
  return {
    busy,
    run,
    /** The error of one field. */
    field: (name: string): string | undefined => fields[name],
    /** The server's sentence, where no field's error contains it. */
    refusal: error === undefined || Object.keys(fields).length > 0 ? undefined : messageOf(error),
  }
}

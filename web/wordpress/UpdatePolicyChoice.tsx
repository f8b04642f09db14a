import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  changeUpdatePolicy,
  type UpdatePolicy,
  type Updates,
} from '../../contract/wordpress-updates.ts'
import type { Server } from '../../contract/wordpress.ts'
import { call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { RadioCard } from '../ui/RadioCard.tsx'
import { toast } from '../ui/toast.ts'
import { updatesQuery } from './site-queries.ts'

const policies: readonly UpdatePolicy[] = ['security', 'all', 'none']

/** Which updates are automatic, and when the next one runs. */
export function UpdatePolicyChoice({ server, updates }: { server: Server; updates: Updates }) {
  const t = useTexts('parts')
  const queryClient = useQueryClient()
  const name = useId()
  /** The pressed choice while it is not saved yet. */
  const [pressed, setPressed] = useState<UpdatePolicy>()
  const choose = async (policy: UpdatePolicy) => {
    setPressed(policy)
    try {
      const chosen = await call(changeUpdatePolicy, {
        params: { id: server.id },
        body: { policy },
      })
      queryClient.setQueryData(
        updatesQuery(server.id).queryKey,
        (old) => old && { ...old, ...chosen },
      )
      toast.success(t.toast.success, t.updates.policySaved)
    } catch (failure) {
      toast.error(t.toast.error, messageOf(failure))
    } finally {
      setPressed(undefined)
    }
  }
  return (
    <fieldset disabled={!may('servers:write')} className="grid gap-3 border-t border-border pt-5">
      <legend className="sr-only">{t.updates.policyTitle}</legend>
      <div>
        <h4 aria-hidden className="text-sm font-semibold">
          {t.updates.policyTitle}
        </h4>
        <p className="mt-0.5 max-w-prose text-xs text-ink-3">{t.updates.policyAbout}</p>
      </div>
      <div className="grid gap-3 sm:grid-cols-3">
        {policies.map((policy) => {
          const [label, hint] = t.updates.policies[policy]
          return (
            <RadioCard
              key={policy}
              name={name}
              value={policy}
              checked={(pressed ?? updates.policy) === policy}
              onChange={() => void choose(policy)}
              className="p-4 pr-10"
            >
              <span>
                <span className="block text-sm font-medium">{label}</span>
                <span className="mt-1 block text-xs text-ink-3">{hint}</span>
              </span>
            </RadioCard>
          )
        })}
      </div>
      {updates.nextAutomaticAt === null || server.status !== 'running' ? null : (
        <p className="num text-xs text-ink-2">
          {t.updates.next(formatTime(updates.nextAutomaticAt))}
        </p>
      )}
    </fieldset>
  )
}

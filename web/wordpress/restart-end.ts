/** Reports when a restart that was running on this page has ended, and how long it took. */
import { useEffect, useRef } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import { useTexts } from '../i18n/index.ts'
import { toast } from '../ui/toast.ts'

export function useRestartEnd({ restarting, status }: Pick<Server, 'restarting' | 'status'>): void {
  const t = useTexts('site')
  const beganAt = useRef<number>(undefined)
  useEffect(() => {
    if (restarting) {
      beganAt.current ??= Date.now()
      return
    }
    const began = beganAt.current
    beganAt.current = undefined
    if (began !== undefined && status === 'running')
      toast.success(
        t.toast.success,
        t.site.restarted(Math.max(1, Math.round((Date.now() - began) / 1000))),
      )
  }, [restarting, status, t])
}

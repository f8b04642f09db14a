import { useQueryClient } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { attachMethod, cardSetup } from '../../contract/cards.ts'
import { Attempt, call } from '../api.ts'
import { sentenceLanguage, useLanguage, useTexts } from '../i18n/index.ts'
import { useConfig } from '../queries.ts'
import { session } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { useTheme } from '../ui/theme.ts'
import { toast } from '../ui/toast.ts'
import {
  cardProvider,
  methodIdOf,
  type Appearance,
  type CardFields,
  type CardIntent,
  type CardProvider,
} from './card-provider.ts'
import { cardsQuery } from './card-queries.ts'
import { useCardTexts } from './card-texts.ts'

/** The portal's present colours, for the provider's form. */
function appearance(): Appearance {
  const root = document.documentElement
  const styles = getComputedStyle(root)
  const colour = (name: string): string => styles.getPropertyValue(name).trim()
  return {
    theme: root.classList.contains('dark') ? 'night' : 'stripe',
    variables: {
      colorPrimary: colour('--primary'),
      colorBackground: colour('--surface'),
      colorText: colour('--text'),
      colorTextSecondary: colour('--text-3'),
      colorDanger: colour('--danger'),
      borderRadius: '8px',
    },
  }
}

/** A secret that can still link a card: the one stored after the sign-in, or a new one. */
async function usableSecret(provider: CardProvider): Promise<string> {
  const kept = session.cardSecret()
  if (kept !== null) {
    const { setupIntent } = await provider.retrieveSetupIntent(kept)
    if (setupIntent?.status === 'requires_payment_method') return kept
  }
  const { client_secret: fresh } = await call(cardSetup, {})
  session.keepCardSecret(fresh)
  return fresh
}

type Outcome = 'succeeded' | 'processing' | 'requires_payment_method'
const tones = {
  succeeded: 'success',
  processing: 'info',
  requires_payment_method: 'danger',
} as const

/** The provider's form. `returned`: the secret of a setup that came back by redirection. */
export function LinkCardForm({
  returned,
  onLinked,
}: {
  returned: string | undefined
  onLinked: () => void
}) {
  const t = useTexts()
  const c = useCardTexts()
  const language = useLanguage()
  const theme = useTheme()
  const { cards } = useConfig()
  const queryClient = useQueryClient()
  const place = useRef<HTMLDivElement>(null)
  const provider = useRef<CardProvider>(undefined)
  const fields = useRef<CardFields>(undefined)
  const [attempt] = useState(() => new Attempt())
  const [round, setRound] = useState(0)
  const [state, setState] = useState<'loading' | 'ready' | 'away'>('loading')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const [outcome, setOutcome] = useState<Outcome>()

  /** Whether the setup is finished; otherwise its form is shown again. */
  const conclude = async (intent: CardIntent): Promise<boolean> => {
    const status: Outcome =
      intent.status === 'succeeded' || intent.status === 'processing'
        ? intent.status
        : 'requires_payment_method'
    setOutcome(status)
    if (status === 'requires_payment_method') return false
    // A secret links only one card.
    session.keepCardSecret(null)
    const methodId = methodIdOf(intent)
    if (status === 'succeeded' && methodId !== null) {
      try {
        await attempt.run(attachMethod, { body: { methodId } })
        toast.success(t.toast.success, c.attached)
      } catch {
        toast.error(t.toast.error, c.notAttached)
      }
      await queryClient.invalidateQueries({ queryKey: cardsQuery.queryKey })
      onLinked()
    }
    setRound((now) => now + 1)
    return true
  }

  // Each round creates one form. The first round also reads the result of a setup that came back by
  // redirection.
  useEffect(() => {
    let left = false
    let form: ReturnType<CardFields['create']> | undefined
    const open = async () => {
      const loaded = await cardProvider(cards)
      if (returned !== undefined && round === 0) {
        const { setupIntent } = await loaded.retrieveSetupIntent(returned)
        if (setupIntent && !left && (await conclude(setupIntent))) return
      }
      const clientSecret = await usableSecret(loaded)
      if (left || !place.current) return
      provider.current = loaded
      fields.current = loaded.elements({
        clientSecret,
        locale: sentenceLanguage(language),
        appearance: appearance(),
      })
      form = fields.current.create('payment', {
        wallets: { applePay: 'never', googlePay: 'never' },
      })
      form.on('ready', () => setState('ready'))
      form.on('loaderror', () => setState('away'))
      form.mount(place.current)
    }
    setState('loading')
    open().catch(() => {
      if (!left) setState('away')
    })
    return () => {
      left = true
      form?.destroy()
    }
    // The texts may change with the language after the setup has finished; the form must not be
    // emptied for that.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [round, cards, language, returned])

  useEffect(() => fields.current?.update({ appearance: appearance() }), [theme])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy || !provider.current || !fields.current) return
    setBusy(true)
    setFault(undefined)
    setOutcome(undefined)
    try {
      const checked = await fields.current.submit()
      // The provider's form itself shows what is missing.
      if (checked.error) return
      const { error, setupIntent } = await provider.current.confirmSetup({
        elements: fields.current,
        confirmParams: { return_url: `${location.origin}/link-card${location.search}` },
        redirect: 'if_required',
      })
      if (error) {
        if (error.type !== 'validation_error') setFault(error.message ?? c.failed)
      } else if (setupIntent) await conclude(setupIntent)
    } catch {
      setFault(c.failed)
    } finally {
      setBusy(false)
    }
  }

  const words: Record<Outcome, string> = {
    succeeded: c.saved,
    processing: c.processing,
    requires_payment_method: c.failed,
  }
  return (
    <form className="p-5 sm:p-6" onSubmit={(event) => void submit(event)} noValidate>
      <h2 className="text-base font-semibold">{c.add}</h2>
      <p className="mt-1 text-sm text-ink-3">{c.addText}</p>
      {outcome ? (
        <Note
          tone={tones[outcome]}
          role={outcome === 'requires_payment_method' ? 'alert' : 'status'}
          className="mt-4"
        >
          {words[outcome]}
        </Note>
      ) : null}
      {state === 'away' ? (
        <LoadError
          text={c.providerAway}
          retryLabel={t.common.retry}
          onRetry={() => setRound(round + 1)}
        />
      ) : (
        <>
          <div className="relative mt-4 min-h-50" aria-busy={state === 'loading'}>
            {state === 'loading' ? (
              <div className="absolute inset-0 grid content-start gap-4">
                <Skeleton className="h-16 w-full" />
                <Skeleton className="h-16 w-full" />
                <Skeleton className="h-4 w-40" />
              </div>
            ) : null}
            {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
            <div ref={place} role="group" aria-label={c.form} />
          </div>
          {fault ? (
            <Note tone="danger" role="alert" className="mt-4">
              {fault}
            </Note>
          ) : null}
          <Button
            type="submit"
            size="lg"
            busy={busy}
            disabled={state !== 'ready'}
            className="mt-5 w-full"
          >
            <Lock aria-hidden className="size-4" />
            {c.submit}
          </Button>
        </>
      )}
    </form>
  )
}

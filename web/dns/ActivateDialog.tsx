import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { checkDomain, type Check, type Domain } from '../../contract/dns.ts'
import { call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'

/** The pause that the specification demands between a success and the next step. */
const afterSuccessMs = 1000

/**
 * The name servers that the domain must have, the ones in the parent zone now, and the server's
 * advice where they differ.
 */
export default function ActivateDialog({
  domain,
  onClose,
  onActivated,
}: {
  domain: Domain
  onClose: () => void
  /** Called shortly after a successful check, to open the domain's records. */
  onActivated: () => void
}) {
  const t = useTexts('dns', 'dnsParts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [answer, setAnswer] = useState<Check>()
  const [trouble, setTrouble] = useState<string>()
  const isValid = answer?.isValid === true
  const follow = useRef(onActivated)
  useEffect(() => {
    // If the dialog is closed during the pause, the customer stays on this page.
    if (!isValid) return
    const leaving = setTimeout(() => follow.current(), afterSuccessMs)
    return () => clearTimeout(leaving)
  }, [isValid])

  const check = async () => {
    setBusy(true)
    setTrouble(undefined)
    try {
      const result = await call(checkDomain, { query: { domain: domain.name } })
      setAnswer(result)
      void queryClient.invalidateQueries({ queryKey: ['dns'] })
      if (result.isValid) toast.success(t.toast.success, t.domain.checked)
      else toast.error(t.toast.error, t.domain.checkFailed)
    } catch (error) {
      setTrouble(messageOf(error))
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
    }
  }

  const found = answer?.found ?? domain.verification.found
  const looked = answer !== undefined || domain.verification.checkedAt !== null
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.domain.activateTitle(domain.name)}
      description={t.domain.activateText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.close}
          </Button>
          <Button busy={busy} disabled={isValid} onClick={() => void check()}>
            {t.domain.check}
          </Button>
        </>
      }
    >
      <ul className="grid gap-2">
        {domain.nameserver.map((name) => (
          <li
            key={name}
            className="flex items-center justify-between gap-2 rounded-md bg-subtle py-1 pr-1 pl-3"
          >
            <code className="min-w-0 font-mono text-sm break-all">{name}</code>
            <CopyButton text={name} label={t.common.copyOf(name)} doneLabel={t.common.copied} />
          </li>
        ))}
      </ul>
      <p className="mt-3 text-sm text-ink-2">{t.domain.activateNote}</p>
      <div aria-live="polite" className="mt-4 grid gap-2">
        {trouble === undefined ? null : <Note tone="danger">{trouble}</Note>}
        {answer?.isValid ? <Note tone="success">{t.domain.checked}</Note> : null}
        {answer && !answer.isValid ? (
          <Note tone="warning">{answer.advice ?? t.domain.checkFailed}</Note>
        ) : null}
        {answer?.warnings.map(({ code, text }) => (
          <Note key={code} tone="info">
            {text}
          </Note>
        ))}
        {looked ? (
          <div className="text-xs text-ink-3">
            <p>
              {t.domain.found}:{' '}
              {found.length > 0 ? (
                <code className="font-mono break-all">{found.join(', ')}</code>
              ) : (
                t.domain.foundNothing
              )}
            </p>
            {answer === undefined && domain.verification.checkedAt !== null ? (
              <p className="num">
                {t.domain.lastLooked(formatTime(domain.verification.checkedAt))}
              </p>
            ) : null}
          </div>
        ) : null}
      </div>
    </Dialog>
  )
}

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { notMe } from '../../contract/second-factor.ts'
import { call, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Note } from '../ui/State.tsx'
import { authLink, AuthLayout } from './AuthLayout.tsx'

/**
 * The page that the link in a sign-in letter opens. Opening it changes nothing, because mail
 * programs open links too.
 */
export default function NotMePage() {
  const t = useTexts('auth')
  const navigate = useNavigate()
  const { token = '' } = useSearch({ strict: false })
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<string>()
  const deny = async () => {
    setBusy(true)
    try {
      const { email } = await call(notMe, { body: { token } })
      await navigate({ to: '/auth/pass-recovery', search: { email } })
    } catch (error) {
      setTrouble(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <AuthLayout
      title={t.auth.notMeTitle}
      sub={t.auth.notMeSub}
      footer={
        <Link to="/login" className={authLink}>
          {t.auth.backToLogin}
        </Link>
      }
    >
      <div className="grid gap-5">
        {trouble === undefined ? null : (
          <Note tone="danger" role="alert">
            {trouble}
          </Note>
        )}
        <Button size="lg" busy={busy} onClick={() => void deny()}>
          {t.auth.notMeSubmit}
        </Button>
      </div>
    </AuthLayout>
  )
}

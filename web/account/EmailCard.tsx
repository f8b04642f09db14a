import { changeEmail, confirmEmail } from '../../contract/account.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Input } from '../ui/Field.tsx'
import { ContactCard } from './ContactCard.tsx'

export function EmailCard({ email, proven }: { email: string; proven: boolean }) {
  const t = useTexts('account').account
  return (
    <ContactCard
      title={t.email}
      value={email}
      field="email"
      label={t.newEmail}
      schema={changeEmail.body}
      ownEmail={email}
      input={(control) => (
        <Input
          {...control}
          type="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
        />
      )}
      begin={(body) => call(changeEmail, { body })}
      confirm={(code) => call(confirmEmail, { body: { code } })}
      sent={(to) => (to === email ? t.emailProofSent(to) : t.emailSent(to))}
      done={(to) => (to === email ? t.emailConfirmed : t.emailChanged)}
      unconfirmed={proven ? undefined : { text: t.emailUnconfirmed, act: t.confirmEmail }}
    />
  )
}

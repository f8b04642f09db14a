import { changeEmail, confirmEmail } from '../../contract/account.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Input } from '../ui/Field.tsx'
import { ContactCard } from './ContactCard.tsx'

export function EmailCard({ email }: { email: string }) {
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
      sent={t.emailSent}
      done={t.emailChanged}
    />
  )
}

import { changePhone, confirmPhone } from '../../contract/account.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Input } from '../ui/Field.tsx'
import { ContactCard } from './ContactCard.tsx'

export function PhoneCard({ phone, email }: { phone: string; email: string }) {
  const t = useTexts('account').account
  return (
    <ContactCard
      title={t.phone}
      value={phone}
      field="phone"
      label={t.newPhone}
      schema={changePhone.body}
      ownEmail={email}
      input={(control) => <Input {...control} type="tel" autoComplete="tel" />}
      begin={(body) => call(changePhone, { body })}
      confirm={(code) => call(confirmPhone, { body: { code } })}
      sent={t.phoneSent}
      done={() => t.phoneChanged}
    />
  )
}

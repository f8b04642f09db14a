import { changeAccount, type Account } from '../../contract/account.ts'
import { call } from '../api.ts'
import { differing, useForm } from '../form.ts'
import { setLanguage, useTexts } from '../i18n/index.ts'
import { followTimeZone } from '../time-zone.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Select } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { FormFailure } from './FormFailure.tsx'
import { useChanged } from './queries.ts'

/** The city in the browser's time zone: Sydney for Australia/Sydney. */
const browserCity = Intl.DateTimeFormat()
  .resolvedOptions()
  .timeZone.replace(/^.*\//, '')
  .replaceAll('_', ' ')
/** Each language in its own words, so that its speakers find it. */
const languageNames: readonly [Account['language'], string][] = [
  ['vi', 'Tiếng Việt'],
  ['en', 'English'],
  ['aud', 'English (Australia)'],
]

/** The time zones that this browser knows, and the chosen one even if it is not among them. */
function zones(chosen: string | null): string[] {
  const known = Intl.supportedValuesOf('timeZone')
  return chosen === null || known.includes(chosen) ? known : [chosen, ...known]
}

const bodyOf = ({ language, timeZone }: { language: Account['language']; timeZone: string }) => ({
  language,
  timeZone: timeZone === '' ? null : timeZone,
})

export function RegionCard({ account }: { account: Account }) {
  const t = useTexts('account')
  const changed = useChanged()
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    // A select cannot hold null; the empty value stands for it.
    initial: { language: account.language, timeZone: account.timeZone ?? '' },
    keep: ['language', 'timeZone'],
    follows: true,
    schema: changeAccount.body,
    body: (values, begun) => differing(bodyOf(values), bodyOf(begun)),
    submit: async (body) => {
      const now = await call(changeAccount, { body })
      followTimeZone(now.timeZone)
      changed(now)
      // This browser may show another language, chosen in the header. Only a new choice here
      // changes that.
      if (now.language !== account.language) await setLanguage(now.language)
      toast.success(t.toast.success, t.account.saved)
    },
  })
  return (
    <Card title={t.account.region} sub={t.account.regionSub}>
      <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
        <FormFailure failure={failure} />
        <Field label={t.account.language} error={errors['language']}>
          {(control) => (
            <Select {...control} {...bind('language')}>
              {languageNames.map(([code, name]) => (
                <option key={code} value={code}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t.account.timeZone} error={errors['timeZone']}>
          {(control) => (
            <Select {...control} {...bind('timeZone')}>
              <option value="">{t.account.browserZone(browserCity)}</option>
              {zones(account.timeZone).map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </Select>
          )}
        </Field>
        <Button type="submit" busy={busy} className="justify-self-start">
          {t.account.save}
        </Button>
      </form>
    </Card>
  )
}

import { getRouteApi, Link } from '@tanstack/react-router'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { StatusPage } from './StatusPage.tsx'

const route = getRouteApi('/pages/coming-soon')

export default function ComingSoon() {
  const t = useTexts()
  const { product = '' } = route.useSearch()
  const names: Record<string, string> = t.nav
  const name = Object.hasOwn(names, product) ? names[product] : undefined
  return (
    <StatusPage title={t.pages.soon} text={t.pages.soonText(name ?? t.pages.soonGeneric)}>
      <Link to="/" className={buttonClass()}>
        {t.pages.home}
      </Link>
    </StatusPage>
  )
}

import { Link } from '@tanstack/react-router'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { StatusPage } from './StatusPage.tsx'

export default function Error404() {
  const t = useTexts()
  return (
    <StatusPage code="404" title={t.pages.notFound} text={t.pages.notFoundText}>
      <Link to="/" className={buttonClass()}>
        {t.pages.home}
      </Link>
    </StatusPage>
  )
}

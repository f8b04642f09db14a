import { Link } from '@tanstack/react-router'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { StatusPage } from './StatusPage.tsx'

export default function Error503() {
  const t = useTexts()
  return (
    <StatusPage code="503" title={t.pages.unavailable} text={t.pages.unavailableText}>
      <Link to="/" className={buttonClass()}>
        {t.common.retry}
      </Link>
    </StatusPage>
  )
}

import { useTexts } from '../i18n/index.ts'
import { returnPath } from '../session.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { StatusPage } from './StatusPage.tsx'

/** In the main chunk and with plain links, because it must show when nothing else loads. */
export function Error500() {
  const t = useTexts()
  const from = new URLSearchParams(location.search).get('from')
  const retry = () => {
    if (from === null) location.reload()
    else location.assign(returnPath(from))
  }
  return (
    <StatusPage code="500" title={t.pages.broken} text={t.pages.brokenText}>
      <Button onClick={retry}>{t.common.retry}</Button>
      <a href="/" className={buttonClass('outline')}>
        {t.pages.home}
      </a>
    </StatusPage>
  )
}

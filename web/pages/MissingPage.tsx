import { Link } from '@tanstack/react-router'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Missing } from './Missing.tsx'

/** An address without a screen, for who is signed in: the menu stays, and leads on. */
export default function MissingPage() {
  const t = useTexts()
  return (
    <>
      <title>{`${t.pages.notFound} · ${brand}`}</title>
      <PageHead title={t.pages.notFound} />
      <section className="card">
        <Missing text={t.pages.notFoundText}>
          <Link to="/" className={buttonClass()}>
            {t.pages.home}
          </Link>
        </Missing>
      </section>
    </>
  )
}

import { Link } from '@tanstack/react-router'
import { ApiError, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Missing } from '../pages/Missing.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { LoadError } from '../ui/State.tsx'

/**
 * Shown instead of a domain's screens when it cannot be read or does not exist: the reason, and the
 * way back to the list.
 */
export function NoDomain({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const t = useTexts('dns')
  return (
    <>
      <h1 tabIndex={-1} className="sr-only">
        {t.dns.title}
      </h1>
      <section className="card">
        {error instanceof ApiError && error.status === 404 ? (
          <Missing text={t.dns.missing}>
            <Link to="/dns" className={buttonClass()}>
              {t.records.back}
            </Link>
          </Missing>
        ) : (
          <>
            <LoadError text={messageOf(error)} retryLabel={t.common.retry} onRetry={onRetry} />
            <p className="pb-8 text-center">
              <Link to="/dns" className={buttonClass('outline', 'sm')}>
                {t.records.back}
              </Link>
            </p>
          </>
        )}
      </section>
    </>
  )
}

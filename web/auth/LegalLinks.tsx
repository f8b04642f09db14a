import { useTexts } from '../i18n/index.ts'

/**
 * Links at the foot of the pages before sign-in. They open a new tab, so that typed text is not
 * lost.
 */
export function LegalLinks({ className = '' }: { className?: string }) {
  const t = useTexts('auth')
  return (
    <nav
      aria-label={t.legal.label}
      className={`flex flex-wrap gap-x-5 gap-y-1 text-xs text-ink-3 ${className}`}
    >
      {(['cookies', 'privacy', 'terms'] as const).map((page) => (
        <a
          key={page}
          href={`/legal/${page}`}
          target="_blank"
          rel="noreferrer"
          title={t.common.openIn}
          className="rounded-sm py-1 hover:text-ink hover:underline"
        >
          {t.lock[page]}
        </a>
      ))}
    </nav>
  )
}

import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import { configQuery } from '../queries.ts'
import { LanguageMenu, SandboxBadge, ThemeMenu } from '../shell/HeaderMenus.tsx'
import { Logo } from '../ui/Logo.tsx'
import { LegalLinks } from './LegalLinks.tsx'

interface AuthLayoutProps {
  title: string
  sub?: ReactNode
  children: ReactNode
  footer?: ReactNode
  wide?: boolean
}

/**
 * The layout of all pages before sign-in: the form, and on wide screens an introduction beside it.
 */
export function AuthLayout({ title, sub, children, footer, wide = false }: AuthLayoutProps) {
  const t = useTexts('auth')
  const { data: config } = useQuery(configQuery)
  return (
    <div className="grid min-h-dvh lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
      <title>{`${title} · ${brand}`}</title>
      <aside className="wallet no-print relative hidden flex-col justify-between p-10 lg:flex">
        <p className="flex items-center gap-3 text-lg font-semibold">
          <Logo className="size-8" />
          {brand}
        </p>
        <div className="max-w-sm">
          <p className="text-3xl font-semibold tracking-[-.025em] text-balance">{t.auth.tagline}</p>
          <ul className="mt-8 grid gap-3.5 text-base text-white/85">
            {t.auth.points.map((point) => (
              <li key={point} className="flex gap-3">
                <span
                  aria-hidden
                  className={
                    'mt-0.5 grid size-5 shrink-0 place-items-center rounded-full ' + 'bg-white/15'
                  }
                >
                  <Check className="size-3" strokeWidth={3} />
                </span>
                {point}
              </li>
            ))}
          </ul>
        </div>
        <span />
      </aside>
      <div className="flex min-w-0 flex-col">
        <header className="flex min-h-14 flex-wrap items-center gap-1 px-4 sm:px-6">
          <span className="flex items-center gap-2.5 font-semibold lg:hidden">
            <Logo />
            {brand}
          </span>
          <span className="flex-1" />
          {config?.sandbox ? <SandboxBadge inbox={config.sandboxInbox} /> : null}
          <LanguageMenu />
          <ThemeMenu />
        </header>
        <main id="main" className="flex flex-1 items-center justify-center px-4 py-8 sm:px-6">
          <div className={wide ? 'w-full max-w-[520px]' : 'w-full max-w-[400px]'}>
            <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
              {title}
            </h1>
            {sub ? <p className="mt-1.5 text-sm text-ink-2">{sub}</p> : null}
            <div className="mt-7">{children}</div>
            {footer ? <div className="mt-6 text-sm text-ink-2">{footer}</div> : null}
          </div>
        </main>
        <LegalLinks className="justify-center px-4 pb-6" />
      </div>
    </div>
  )
}

export const authLink =
  'font-medium text-primary-ink underline decoration-primary-ink/40 underline-offset-4 ' +
  'hover:decoration-primary-ink'

import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { legalPage, legalPages, type LegalPage as Page } from '../../contract/system.ts'
import { call, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useLanguage, useTexts } from '../i18n/index.ts'
import { LanguageMenu, ThemeMenu } from '../shell/HeaderMenus.tsx'
import { Logo } from '../ui/Logo.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import NotFound from './Error404.tsx'

const route = getRouteApi('/legal/$page')

/** The operator's legal texts, from the catalogue, in the reader's language. */
const textQuery = (page: Page, language: string) =>
  queryOptions({
    queryKey: ['legal', page, language],
    queryFn: ({ signal }) => call(legalPage, { params: { page } }, { signal }),
  })

export default function LegalPage() {
  const { page } = route.useParams()
  const known = legalPages.find((one) => one === page)
  return known ? <Text page={known} /> : <NotFound />
}

function Text({ page }: { page: Page }) {
  const t = useTexts('auth')
  const { data, isPending, isError, error, refetch } = useQuery(textQuery(page, useLanguage()))
  return (
    <div className="mx-auto min-h-dvh max-w-3xl px-5 pb-16 sm:px-8">
      <title>{`${t.legal[page]} · ${brand}`}</title>
      <header className="flex h-16 items-center gap-1">
        <Link to="/" className="flex items-center gap-2.5 rounded-md font-semibold">
          <Logo />
          {brand}
        </Link>
        <span className="flex-1" />
        <LanguageMenu />
        <ThemeMenu />
      </header>
      <main id="main" className="mt-6">
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
          {t.legal[page]}
        </h1>
        {isPending ? <SkeletonRows rows={6} className="mt-8" /> : null}
        {isError && !data ? (
          <LoadError
            text={messageOf(error)}
            retryLabel={t.common.retry}
            onRetry={() => void refetch()}
          />
        ) : null}
        <div className="mt-2 text-base leading-relaxed">
          {data?.paragraphs.map((text) =>
            text.startsWith('# ') ? (
              <h2 key={text} className="mt-7 text-lg font-semibold">
                {text.slice(2)}
              </h2>
            ) : (
              <p key={text} className="mt-2 text-ink-2">
                {text}
              </p>
            ),
          )}
        </div>
        <nav
          aria-label={t.legal.label}
          className="mt-12 flex flex-wrap gap-x-5 gap-y-2 border-t border-border pt-5 text-sm"
        >
          {legalPages.map((one) => (
            <Link
              key={one}
              to="/legal/$page"
              params={{ page: one }}
              className="font-medium text-primary-ink hover:underline"
            >
              {t.legal[one]}
            </Link>
          ))}
        </nav>
      </main>
    </div>
  )
}

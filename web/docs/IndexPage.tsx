import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { brand } from '../brand.ts'
import { docNames } from '../i18n/en-docs.ts'
import { useTexts } from '../i18n/index.ts'
import { PageHead } from '../ui/PageHead.tsx'

export default function IndexPage() {
  const t = useTexts('docs')
  return (
    <>
      <title>{`${t.docs.title} · ${brand}`}</title>
      <PageHead title={t.docs.title} sub={t.docs.sub} />
      <ul className="card divide-y divide-border overflow-hidden">
        {docNames.map((name) => (
          <li key={name}>
            <Link
              to="/docs/$page"
              params={{ page: name }}
              className="flex items-center justify-between gap-4 px-5 py-4 hover:bg-subtle/60"
            >
              <span className="min-w-0">
                <span className="block text-sm font-medium">{t.docs.pages[name].title}</span>
                <span className="block text-xs text-ink-3">{t.docs.pages[name].sub}</span>
              </span>
              <ChevronRight aria-hidden className="size-4 shrink-0 text-ink-3" />
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

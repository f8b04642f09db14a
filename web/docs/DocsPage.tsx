import { getRouteApi, Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { brand } from '../brand.ts'
import { docNames, type DocSection } from '../i18n/en-docs.ts'
import { useTexts } from '../i18n/index.ts'
import { useConfig } from '../queries.ts'
import { buttonClass } from '../ui/Button.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty } from '../ui/State.tsx'

const route = getRouteApi('/app/docs/$page')

export default function DocsPage() {
  const t = useTexts('docs')
  const { page } = route.useParams()
  const name = docNames.find((one) => one === page)
  const doc = name === undefined ? undefined : t.docs.pages[name]
  return (
    <>
      <title>{`${doc?.title ?? t.docs.title} · ${brand}`}</title>
      <Link
        to="/docs"
        className="mb-2 inline-flex items-center gap-1 rounded-sm text-sm text-ink-2 hover:text-ink"
      >
        <ChevronLeft aria-hidden className="size-4" />
        {t.docs.all}
      </Link>
      <PageHead title={doc?.title ?? t.docs.title} sub={doc?.sub} />
      {doc ? (
        <article className="card max-w-3xl p-6 text-base leading-relaxed sm:p-8">
          {doc.sections.map((section) => (
            <Section key={section.heading} section={section} />
          ))}
          {name === 'support' ? <Contact /> : null}
        </article>
      ) : (
        <section className="card">
          <Empty text={t.docs.missing} />
        </section>
      )}
    </>
  )
}

function Section({
  section: { heading, text = [], steps = [], terms = [] },
}: {
  section: DocSection
}) {
  const { unpaid } = useConfig()
  return (
    <section className="not-first:mt-7">
      <h2 className="text-lg font-semibold">{heading}</h2>
      {text
        .map((paragraph) => (typeof paragraph === 'string' ? paragraph : paragraph(unpaid)))
        .map((paragraph) => (
          <p key={paragraph} className="mt-2 text-ink-2">
            {paragraph}
          </p>
        ))}
      {steps.length > 0 ? (
        <ol className="mt-2 list-decimal space-y-1.5 pl-5 text-ink-2 marker:text-ink-3">
          {steps.map((step) => (
            <li key={step} className="pl-1">
              {step}
            </li>
          ))}
        </ol>
      ) : null}
      {terms.length > 0 ? (
        <dl className="mt-2 grid gap-x-6 gap-y-2 sm:grid-cols-[auto_minmax(0,1fr)]">
          {terms.map(([term, meaning]) => (
            <div key={term} className="contents">
              <dt className="font-medium whitespace-nowrap">{term}</dt>
              <dd className="text-ink-2 max-sm:mb-2">{meaning}</dd>
            </div>
          ))}
        </dl>
      ) : null}
    </section>
  )
}

function Contact() {
  const t = useTexts('docs')
  const { support } = useConfig()
  return (
    <p className="mt-7 flex flex-wrap gap-3">
      <Link to="/support" className={buttonClass()}>
        {t.nav.support}
      </Link>
      {support.email === null ? null : (
        <a href={`mailto:${support.email}`} className={buttonClass('outline')}>
          {t.docs.write(support.email)}
        </a>
      )}
      {support.url === null ? null : (
        <a href={support.url} target="_blank" rel="noreferrer" className={buttonClass('outline')}>
          {t.docs.open}
        </a>
      )}
    </p>
  )
}

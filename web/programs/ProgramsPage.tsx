import { Link } from '@tanstack/react-router'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { buttonClass } from '../ui/Button.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { tokensQuery, webhooksQuery } from './queries.ts'
import { TokensCard } from './TokensCard.tsx'
import { WebhooksCard } from './WebhooksCard.tsx'

export const load = ({ queryClient }: LoadInput) =>
  Promise.all([queryClient.prefetchQuery(tokensQuery), queryClient.prefetchQuery(webhooksQuery)])

/** Tokens for the customer's programs, and their webhooks. */
export default function ProgramsPage() {
  const t = useTexts('programs')
  return (
    <>
      <title>{`${t.programs.title} · ${brand}`}</title>
      <PageHead title={t.programs.title} sub={t.programs.sub}>
        <a href="/api/docs" target="_blank" rel="noreferrer" className={buttonClass('outline')}>
          {t.programs.docs}
        </a>
        <Link to="/account" className={buttonClass('outline')}>
          {t.programs.back}
        </Link>
      </PageHead>
      <div className="grid gap-6">
        <TokensCard />
        <WebhooksCard />
      </div>
    </>
  )
}

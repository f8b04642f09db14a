import { Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Domain } from '../../contract/dns.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Note } from '../ui/State.tsx'
import { DomainBadge } from './DomainBadge.tsx'

/** The head of a domain's page: its name, how it stands, and the name servers it is delegated to. */
export function DomainHead({ domain, children }: { domain: Domain; children?: ReactNode }) {
  const t = useTexts('dns')
  return (
    <>
      <Link to="/dns" className="mb-2 inline-flex items-center gap-1 rounded-sm text-sm text-ink-2 hover:text-ink">
        <ChevronLeft aria-hidden className="size-4" />
        {t.records.back}
      </Link>
      <PageHead
        title={domain.name}
        heading={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="break-all">{domain.name}</span>
            <DomainBadge domain={domain} />
          </span>
        }
        sub={
          <span className="flex flex-wrap items-center gap-x-2">
            {t.dns.nameservers}
            {domain.nameserver.map((name) => (
              <span key={name} className="inline-flex items-center">
                <code className="font-mono text-xs">{name}</code>
                <CopyButton text={name} label={t.common.copyOf(name)} doneLabel={t.common.copied} />
              </span>
            ))}
          </span>
        }
      >
        {children}
      </PageHead>
      {domain.active ? null : (
        <Note tone="info" className="mb-4">
          {t.records.pendingNote}
        </Note>
      )}
      {domain.active && domain.movedAt !== null ? (
        <Note tone="danger" className="mb-4">
          {t.dns.movedText(formatTime(domain.movedAt))}
        </Note>
      ) : null}
    </>
  )
}

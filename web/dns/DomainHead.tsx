import { Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Domain } from '../../contract/dns.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { HelpLink } from '../support/HelpLink.tsx'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Note } from '../ui/State.tsx'
import { DomainBadge } from './DomainBadge.tsx'

const backClass = 'mb-2 inline-flex items-center gap-1 rounded-sm text-sm text-ink-2 hover:text-ink'

/** The head of a domain's page: its name, its state, and its name servers. */
interface DomainHeadProps {
  domain: Domain
  /** Where the back link leads. */
  back?: 'domains' | 'records'
  onActivate?: () => void
  children?: ReactNode
}

export function DomainHead({ domain, back = 'domains', onActivate, children }: DomainHeadProps) {
  const t = useTexts('dns')
  return (
    <>
      {back === 'records' ? (
        <Link to="/dns/domain/$id" params={{ id: domain.id }} className={backClass}>
          <ChevronLeft aria-hidden className="size-4" />
          {t.records.backToRecords}
        </Link>
      ) : (
        <Link to="/dns" className={backClass}>
          <ChevronLeft aria-hidden className="size-4" />
          {t.records.back}
        </Link>
      )}
      <PageHead
        title={domain.name}
        heading={<span className="wrap-anywhere">{domain.name}</span>}
        sub={
          <span className="flex flex-wrap items-center gap-x-2">
            <DomainBadge domain={domain} />
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
        <HelpLink kind="domain" id={domain.id} />
      </PageHead>
      {domain.active ? null : (
        <Note tone="info" className="mb-4 flex flex-wrap items-center justify-between gap-3">
          {t.records.pendingNote}
          {onActivate && may('domains:write') ? (
            <Button variant="outline" size="sm" onClick={onActivate}>
              {t.dns.activate}
            </Button>
          ) : null}
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

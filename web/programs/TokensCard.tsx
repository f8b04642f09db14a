import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { revokeToken, type Token } from '../../contract/tokens.ts'
import { CardList } from '../account/CardList.tsx'
import { call } from '../api.ts'
import { formatDay, formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { ConfirmButton } from '../security/ConfirmButton.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Skeleton } from '../ui/State.tsx'
import { tokensQuery } from './queries.ts'
import { SecretDialog } from './SecretDialog.tsx'

/** Loaded on demand, because it is rarely used. */
const TokenForm = lazy(() => loadWanted(() => import('./TokenForm.tsx')))

export function TokensCard() {
  const t = useTexts('programs')
  const { data, error, refetch } = useQuery(tokensQuery)
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<string>()
  return (
    <Card
      title={t.programs.tokens}
      sub={t.programs.tokensSub}
      padded={false}
      action={
        making ? null : (
          <Button size="sm" onClick={() => setMaking(true)}>
            {t.programs.newToken}
          </Button>
        )
      }
    >
      {making ? (
        <div className="border-t border-border p-5">
          <Suspense fallback={<Skeleton className="h-96" />}>
            <TokenForm
              onCancel={() => setMaking(false)}
              onMade={(made) => {
                setMaking(false)
                setSecret(made)
              }}
            />
          </Suspense>
        </div>
      ) : null}
      <CardList
        items={data}
        error={error}
        onRetry={refetch}
        empty={making ? undefined : t.programs.noTokens}
        first={
          <Button variant="outline" size="sm" onClick={() => setMaking(true)}>
            {t.programs.firstToken}
          </Button>
        }
        row={(token) => <TokenRow key={token.id} token={token} />}
      />
      <SecretDialog
        secret={secret}
        title={t.programs.secretTitle}
        text={t.programs.secretText}
        what={t.programs.secret}
        onClose={() => setSecret(undefined)}
      />
    </Card>
  )
}

function TokenRow({ token }: { token: Token }) {
  const t = useTexts('programs')
  const { rooms, verbs } = t.programs
  const rights = token.scopes.map((scope) => {
    const [room, verb] = scope.split(':') as [keyof typeof rooms, keyof typeof verbs]
    return `${rooms[room]}: ${verbs[verb]}`
  })
  const limits = [
    token.servers ? t.programs.someServers(token.servers.length) : '',
    token.domains ? t.programs.someDomains(token.domains.length) : '',
    token.networks.length > 0 ? t.programs.someNetworks(token.networks.join(', ')) : '',
  ].filter(Boolean)
  return (
    <li className="flex items-start justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          <span className="wrap-anywhere">{token.name}</span>
          {token.expired ? <Badge tone="neutral">{t.programs.expired}</Badge> : null}
        </p>
        <p className="mt-0.5 font-mono text-xs wrap-anywhere text-ink-3">{token.begins}…</p>
        <p className="mt-0.5 text-xs text-ink-2">{rights.join(' · ')}</p>
        {limits.length > 0 ? (
          <p className="mt-0.5 text-xs wrap-anywhere text-ink-2">{limits.join(' · ')}</p>
        ) : null}
        <p className="num mt-0.5 text-xs wrap-anywhere text-ink-3">
          {t.programs.until} {formatDay(token.expiresAt)} · {t.programs.lastUsed}:{' '}
          {token.lastUsedAt === null
            ? t.programs.never
            : `${formatTime(token.lastUsedAt)} ${t.programs.from(token.lastUsedFrom ?? '')}`}
        </p>
      </div>
      <ConfirmButton
        label={t.programs.revoke}
        fullLabel={t.programs.revokeOf(token.name)}
        title={t.programs.revokeTitle}
        text={t.programs.revokeText(token.name)}
        danger
        act={() => call(revokeToken, { params: { id: token.id } })}
        done={t.programs.revoked}
        refreshes={tokensQuery}
      />
    </li>
  )
}

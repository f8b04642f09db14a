import { useState } from 'react'
import { currencies, type Currency } from '../../../contract/money.ts'
import type { Selling, SoldPlan } from '../../../contract/operator-catalog.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Note } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { go } from '../path.tsx'
import { storedDraft } from './draft.ts'
import { money } from './lines.ts'
import type { AtDesk } from './queries.ts'
import { Versions } from './Versions.tsx'

/** What is sold now, the waiting publication, and earlier versions. */
export function CatalogView({ catalog, may }: { catalog: AtDesk; may: boolean }) {
  const t = useDeskTexts()
  const words = t.catalog
  const [wanted, setWanted] = useState<WantedAct>()
  const { version, selling, waiting, failed, files } = catalog
  const [hasDraft] = useState(() => storedDraft() !== undefined)
  return (
    <>
      <PageHead title={words.title} sub={`${words.sub} ${words.version(version)}.`}>
        {may ? (
          <Button onClick={() => go('/catalog/edit')}>{hasDraft ? words.draft : words.edit}</Button>
        ) : null}
      </PageHead>
      <div className="grid gap-5">
        {waiting ? (
          <Note tone="info">
            <div className="flex flex-wrap items-center justify-between gap-3">
              <span className="min-w-0 flex-1 basis-72">
                {words.waits(timeOf(waiting.countsAt), waiting.by)} {waiting.reason}
              </span>
              {may ? (
                <Button
                  size="sm"
                  variant="outline"
                  onClick={() =>
                    setWanted({
                      act: 'catalog.withdraw',
                      about: timeOf(waiting.countsAt),
                      fixed: { publication: waiting.id },
                    })
                  }
                >
                  {t.acts['catalog.withdraw']}
                </Button>
              ) : null}
            </div>
          </Note>
        ) : null}
        {failed ? (
          <Note tone="warning">{words.couldNot(timeOf(failed.countsAt), failed.by)}</Note>
        ) : null}
        {files.map(({ origin, state }) =>
          state === 'in_use' ? null : (
            <Note key={origin} tone="warning">
              <span className="[overflow-wrap:anywhere]">{words.files[state](origin)}</span>{' '}
              <code className="text-xs">{words.fileHow}</code>
            </Note>
          ),
        )}
        <Card title={words.plans} padded={false}>
          <ul>
            {selling.plans.map((plan) => (
              <PlanRow key={plan.id} plan={plan} />
            ))}
          </ul>
        </Card>
        <Card title={words.disks} padded={false}>
          <ul>
            {(['ssdPerGb', 'mariadbPerGb'] as const).map((disk) => (
              <li key={disk} className={rowClass}>
                <span className="min-w-0 flex-1 basis-60 font-medium">{words[disk]}</span>
                <Prices of={(code) => [selling.disks[disk][code]]} />
              </li>
            ))}
          </ul>
        </Card>
        <Centres selling={selling} />
        <Versions catalog={catalog} may={may} />
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

export const rowClass =
  'flex flex-wrap items-center gap-x-6 gap-y-2 border-t border-border px-5 py-3 text-sm'

function Prices({ of }: { of: (code: Currency) => [price: string, list?: string] }) {
  const language = useDeskLanguage()
  const words = useDeskTexts().catalog
  return (
    <span className="grid w-full grid-cols-2 gap-x-4 gap-y-1 sm:w-auto sm:grid-cols-4">
      {currencies.map((code) => {
        const [price, list] = of(code)
        return (
          <span key={code} className="num sm:w-32 sm:text-right">
            <span className="block font-medium">{money(price, code, language)}</span>
            {list === undefined ? null : (
              <span className="block text-xs text-ink-3">
                {words.instead(money(list, code, language))}
              </span>
            )}
          </span>
        )
      })}
    </span>
  )
}

function PlanRow({ plan }: { plan: SoldPlan }) {
  const words = useDeskTexts().catalog
  return (
    <li className={rowClass}>
      <span className="min-w-0 flex-1 basis-60">
        <span className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
          {plan.name}
          {plan.sold ? null : <Badge>{words.notSold}</Badge>}
        </span>
        <span className="num block text-xs text-ink-3">
          {words.size(plan.cpu, String(Number(plan.ram) / 1000), plan.mailAnHour)}
        </span>
      </span>
      <Prices
        of={(code) => {
          const { price, sale } = plan.prices[code]
          return sale === '' ? [price] : [sale, price]
        }}
      />
    </li>
  )
}

function Centres({ selling }: { selling: Selling }) {
  const words = useDeskTexts().catalog
  return (
    <Card title={words.dataCentres} padded={false}>
      <ul>
        {selling.dataCentres.map(({ id, name, country, minDiskGb, sold }) => (
          <li key={id} className={rowClass}>
            <span className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-2 font-medium">
              {name}
              {sold ? null : <Badge>{words.notSold}</Badge>}
            </span>
            <span className="num text-xs text-ink-3">
              {`${country} · ${words.from(minDiskGb)}`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

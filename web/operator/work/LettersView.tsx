import { useInfiniteQuery } from '@tanstack/react-query'
import { Mail } from 'lucide-react'
import { useState } from 'react'
import {
  letterStates,
  type DeskLetter,
  type DeskLetterState,
} from '../../../contract/operator-work.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { lettersQuery } from '../queries.ts'

/** Letters and SMS in one state; a button sends one again. */
export function LettersView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.work.letters
  const [state, setState] = useState<DeskLetterState>('failed')
  const list = useInfiniteQuery(lettersQuery(state))
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'note')
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        <Segmented
          label={words.show}
          value={state}
          onChange={setState}
          options={letterStates.map((value) => ({ value, label: words.states[value] }))}
        />
      </PageHead>
      <PagedList list={list} empty={words.empty} icon={Mail}>
        {(one) => (
          <li key={one.id} className={rowClass}>
            <About of={one} />
            {one.why === null ? null : (
              <span className="min-w-0 flex-1 basis-60 text-sm [overflow-wrap:anywhere] text-ink-2">
                {one.why}
              </span>
            )}
            {one.again ? <Badge>{words.again}</Badge> : null}
            {may && one.sendable ? (
              <Button
                size="sm"
                variant="outline"
                onClick={() =>
                  setWanted({
                    act: 'letter.resend',
                    about: one.to,
                    fixed: { letter: one.id },
                  })
                }
              >
                {one.state === 'waiting' ? words.tryNow : t.acts['letter.resend']}
              </Button>
            ) : null}
          </li>
        )}
      </PagedList>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function About({ of: one }: { of: DeskLetter }) {
  const words = useDeskTexts().work.letters
  const facts = [
    words[one.channel],
    timeOf(one.at),
    ...(one.sentAt === null ? [] : [words.sentAt(timeOf(one.sentAt))]),
    ...(one.until === null ? [] : [words.code(timeOf(one.until))]),
  ]
  return (
    <span className="min-w-0 flex-1 basis-72">
      <span className="block text-sm font-medium [overflow-wrap:anywhere]">
        {one.subject === null ? null : `${one.subject} · `}
        <DeskLink to={`?${new URLSearchParams({ q: one.to })}`} className="hover:underline">
          {one.to}
        </DeskLink>
      </span>
      <span className="num block text-xs text-ink-3">{facts.join(' · ')}</span>
    </span>
  )
}

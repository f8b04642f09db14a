import { useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { currencies } from '../../../contract/money.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Note } from '../../ui/State.tsx'
import { DeskError } from '../api.ts'
import { useDeskTexts } from '../language.ts'
import { go } from '../path.tsx'
import { forgetDraft, useDraft } from './draft.ts'
import { CentreFields, PlanFields, Typed, type Faults } from './fields.tsx'
import { PreviewView, sentenceOf } from './PreviewView.tsx'
import { previewQuery, type AtDesk } from './queries.ts'

/** Forms for the next version. The server validates it, and its errors are shown at the fields. */
export function EditView({ catalog }: { catalog: AtDesk }) {
  const words = useDeskTexts().catalog
  const client = useQueryClient()
  const { draft, ...change } = useDraft({ base: catalog.version, selling: catalog.selling })
  const [faults, setFaults] = useState<Faults>({})
  const [failure, setFailure] = useState('')
  const [busy, setBusy] = useState(false)
  const [isLooking, setLooking] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const { selling } = draft

  const look = async () => {
    setBusy(true)
    setFailure('')
    setFaults({})
    try {
      await client.fetchQuery({ ...previewQuery(draft), staleTime: 0 })
      setLooking(true)
      window.scrollTo(0, 0)
    } catch (error) {
      if (!(error instanceof DeskError)) throw error
      const ofFields = error.code === 'invalid_input'
      if (ofFields) setFaults(error.fields)
      setFailure(ofFields ? words.editor.faults : sentenceOf(error))
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
      )
    } finally {
      setBusy(false)
    }
  }
  const discard = () => {
    forgetDraft()
    go('/catalog')
  }
  if (isLooking)
    return (
      <PreviewView
        title={words.preview.title}
        wanted={draft}
        onBack={() => setLooking(false)}
        onPublished={forgetDraft}
      />
    )
  /** An edited field loses its error. */
  const heal = (under: string) =>
    setFaults((now) =>
      Object.fromEntries(Object.entries(now).filter(([name]) => !name.startsWith(under))),
    )
  return (
    <>
      <PageHead title={words.editor.title} sub={words.editor.sub(draft.base)}>
        <Button variant="outline" onClick={discard}>
          {words.editor.discard}
        </Button>
        <Button busy={busy} onClick={() => void look()}>
          {words.editor.look}
        </Button>
      </PageHead>
      <form
        ref={form}
        noValidate
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          void look()
        }}
      >
        {failure === '' ? null : (
          <Note tone="danger" role="alert">
            {failure}
          </Note>
        )}
        {draft.base === catalog.version ? null : (
          <Note tone="warning">{words.editor.outdated(catalog.version)}</Note>
        )}
        {selling.plans.map((plan, at) => (
          <PlanFields
            key={plan.id ?? `new-${at}`}
            plan={plan}
            at={`plans.${at}`}
            faults={faults}
            onChange={(to, field) => {
              heal(`plans.${at}.${field}`)
              change.changePlan(at, to)
            }}
            onCopy={() =>
              change.addPlan({
                ...plan,
                id: null,
                sold: true,
                name: words.editor.copyName(plan.name),
              })
            }
            onRemove={() => {
              setFaults({})
              change.removePlan(at)
            }}
          />
        ))}
        {(['ssdPerGb', 'mariadbPerGb'] as const).map((disk) => (
          <Card key={disk} title={words[disk]} sub={words.disks}>
            <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
              {currencies.map((code) => (
                <Typed
                  key={code}
                  label={`${words.fields['price']} ${code}`}
                  decimal
                  value={selling.disks[disk][code]}
                  fault={faults[`disks.${disk}.${code}`]}
                  onChange={(text) => {
                    heal(`disks.${disk}.${code}`)
                    change.changeDisks({
                      ...selling.disks,
                      [disk]: { ...selling.disks[disk], [code]: text },
                    })
                  }}
                />
              ))}
            </div>
          </Card>
        ))}
        {selling.dataCentres.map((centre, at) => (
          <CentreFields
            key={centre.id ?? `new-${at}`}
            centre={centre}
            at={`dataCentres.${at}`}
            faults={faults}
            onChange={(to, field) => {
              heal(`dataCentres.${at}.${field}`)
              change.changeCentre(at, to)
            }}
            onRemove={() => {
              setFaults({})
              change.removeCentre(at)
            }}
          />
        ))}
        <div className="flex flex-wrap justify-between gap-3">
          <Button variant="outline" onClick={change.addCentre}>
            <Plus aria-hidden className="size-4" />
            {words.editor.newCentre}
          </Button>
          <Button type="submit" busy={busy}>
            {words.editor.look}
          </Button>
        </div>
      </form>
    </>
  )
}

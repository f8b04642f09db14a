import { useRouter } from '@tanstack/react-router'
import { GitBranch } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { brand } from '../brand.ts'
import { useDraft } from '../drafts.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { NotOpenDialog } from './NotOpenDialog.tsx'
import { isProjectName } from './project-name.ts'

export default function ProjectPage() {
  const t = useTexts('paas')
  const router = useRouter()
  const [name, setName] = useDraft('name', '')
  const [error, setError] = useState<string>()
  const [requestedHost, setRequestedHost] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isProjectName(name))
      void router.navigate({ to: '/web-service/create', search: { project: name } })
    else setError(t.project.invalid)
  }
  return (
    <>
      <title>{`${t.project.title} · ${brand}`}</title>
      <PageHead title={t.project.title} sub={t.project.sub} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_360px]">
        <Card>
          <form noValidate onSubmit={submit} className="grid max-w-xl gap-4">
            <Field label={t.project.name} hint={t.project.hint} error={error}>
              {(control) => (
                <Input
                  {...control}
                  name="name"
                  value={name}
                  placeholder={t.project.placeholder}
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                  onChange={(event) => {
                    setName(event.target.value)
                    setError(undefined)
                  }}
                />
              )}
            </Field>
            <Button type="submit" className="justify-self-start">
              {t.project.create}
            </Button>
          </form>
        </Card>
        <Card title={t.project.connect} sub={t.project.connectText}>
          <div className="grid gap-2">
            {(['Github', 'Gitlab'] as const).map((host) => (
              <Button key={host} variant="outline" onClick={() => setRequestedHost(host)}>
                <GitBranch aria-hidden className="size-4" />
                {host === 'Github' ? t.project.github : t.project.gitlab}
              </Button>
            ))}
          </div>
        </Card>
      </div>
      <NotOpenDialog host={requestedHost} onClose={() => setRequestedHost(undefined)} />
    </>
  )
}

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleHelp, Eraser } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import {
  asksFirst,
  faultText,
  masked,
  mostCommandLength,
  parseCommand,
  runCommand,
} from '../../contract/wordpress-console.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { sentenceLanguage, useLanguage, useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { CommandHistory } from './CommandHistory.tsx'
import { CommandOutput, type Run } from './CommandOutput.tsx'
import { commandsQuery } from './console-queries.ts'
import { usePrompt } from './use-prompt.ts'

/** Most commands and answers that stay on the screen. */
const mostRuns = 50

const sentenceOf = (error: unknown): string =>
  (error instanceof ApiError ? Object.values(error.fields)[0] : undefined) ?? messageOf(error)

/** WP-CLI commands on the server: typed, completed, run, and recalled. */
export default function ConsoleTab({ server }: { server: Server }) {
  const t = useTexts('tools')
  const language = sentenceLanguage(useLanguage())
  const queryClient = useQueryClient()
  const history = useQuery(commandsQuery(server.id))
  const [runs, setRuns] = useState<readonly Run[]>([])
  const [typed, setTyped] = useState<readonly string[]>([])
  const [busy, setBusy] = useState(false)
  const [asked, setAsked] = useState<string>()
  const area = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const isRunning = server.status === 'running'
  // Commands typed on this page come first, then those of the history.
  const past = [...typed, ...(history.data ?? []).map(({ command }) => command)]
  const prompt = usePrompt(past.filter((line, index) => line !== past[index - 1]))

  const show = (run: Omit<Run, 'key'>) =>
    setRuns((all) => [...all, { ...run, key: (all.at(-1)?.key ?? 0) + 1 }].slice(-mostRuns))
  useEffect(() => {
    area.current?.scrollTo({ top: area.current.scrollHeight })
  }, [runs, busy])

  const run = async (line: string, confirmed: boolean) => {
    setBusy(true)
    try {
      const params = { id: server.id }
      const answer = await call(runCommand, { params, body: { command: line, confirmed } })
      show({ command: answer.command, answer })
    } catch (error) {
      show({ command: line, fault: sentenceOf(error) })
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries(commandsQuery(server.id))
      // A command may change data of other parts of the page.
      void queryClient.invalidateQueries({ queryKey: ['updates', server.id] })
    }
  }
  function begin(line: string): void {
    if (busy || !isRunning || line.trim() === '') return
    const command = parseCommand(line)
    if ('fault' in command) {
      show({ command: line, fault: faultText(command, language) })
      setTyped((all) => [line, ...all])
      prompt.type('')
      return
    }
    if (asksFirst(command) && command.flags['yes'] === undefined) {
      setAsked(line)
      return
    }
    setTyped((all) => [line, ...all])
    prompt.type('')
    void run(line, false)
  }
  const shown = asked === undefined ? undefined : parseCommand(asked)

  return (
    <div className="grid gap-8">
      <section aria-labelledby="console" className="grid min-w-0 gap-4">
        <div className="flex flex-wrap items-start justify-between gap-3">
          <div className="min-w-0 flex-1 basis-80">
            <h3 id="console" className="text-sm font-semibold">
              {t.console.title}
            </h3>
            <p className="mt-1 text-sm text-ink-2">{t.console.hint}</p>
          </div>
          <div className="flex flex-wrap gap-2">
            <Button variant="outline" disabled={!isRunning || busy} onClick={() => begin('help')}>
              <CircleHelp aria-hidden className="size-4" />
              {t.console.help}
            </Button>
            <Button
              variant="outline"
              disabled={runs.length === 0}
              onClick={() => {
                setRuns([])
                input.current?.focus()
              }}
            >
              <Eraser aria-hidden className="size-4" />
              {t.console.clear}
            </Button>
          </div>
        </div>
        {isRunning ? null : <Note tone="info">{t.console.closed}</Note>}
        <div
          ref={area}
          role="log"
          aria-label={t.console.log}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          className={
            'h-[28rem] max-h-[60dvh] min-h-60 min-w-0 max-sm:h-60 ' +
            'overflow-y-auto rounded-lg bg-[#0d111a] ' +
            'py-3 font-mono text-xs/5 text-[#d5dbe8] dark:shadow-[inset_0_0_0_1px_var(--border)]'
          }
        >
          {runs.length === 0 ? (
            <p className="px-4 font-sans text-sm text-[#9aa5ba]">{t.console.welcome}</p>
          ) : null}
          {runs.map((one) => (
            <CommandOutput key={one.key} run={one} />
          ))}
          {busy ? <p className="px-4 text-[#9aa5ba]">{t.console.running}</p> : null}
        </div>
        <div className="grid gap-2">
          <div className="flex items-center gap-2">
            <span aria-hidden className="font-mono text-sm text-ink-3">
              wp
            </span>
            <Input
              ref={input}
              aria-label={t.console.prompt}
              aria-describedby="console-choices"
              value={prompt.line}
              maxLength={mostCommandLength}
              disabled={!isRunning}
              autoCapitalize="none"
              autoCorrect="off"
              autoComplete="off"
              spellCheck={false}
              placeholder="plugin list --status=active"
              onKeyDown={(event) => prompt.onKeyDown(event, begin)}
              onChange={({ target }) => prompt.type(target.value)}
              className="min-w-0 flex-1 font-mono"
            />
            <Button
              busy={busy}
              disabled={!isRunning || prompt.line.trim() === ''}
              onClick={() => begin(prompt.line)}
            >
              {t.console.run}
            </Button>
          </div>
          {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
          <p id="console-choices" role="status" className="min-h-5 text-xs break-words text-ink-2">
            {prompt.choices.length > 0 ? t.console.choices(prompt.choices.join('  ')) : ''}
          </p>
        </div>
      </section>
      <CommandHistory
        history={history}
        onUse={(command) => {
          prompt.type(command)
          input.current?.focus()
        }}
      />
      {asked !== undefined && shown && !('fault' in shown) ? (
        <Dialog
          open
          onClose={() => setAsked(undefined)}
          title={t.console.confirmTitle}
          description={t.console.confirmText}
          closeLabel={t.common.close}
          footer={
            <>
              <Button variant="ghost" onClick={() => setAsked(undefined)}>
                {t.common.cancel}
              </Button>
              <Button
                variant="danger"
                onClick={() => {
                  setAsked(undefined)
                  setTyped((all) => [asked, ...all])
                  prompt.type('')
                  void run(asked, true)
                }}
              >
                {t.console.confirm}
              </Button>
            </>
          }
        >
          <code className="block rounded-md bg-subtle px-3 py-2 text-sm break-all">
            wp {masked(shown)}
          </code>
        </Dialog>
      ) : null}
    </div>
  )
}

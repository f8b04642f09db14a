import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { CornerDownLeft, Search } from 'lucide-react'
import {
  memo,
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { signOut } from '../auth/sign-out.ts'
import { lockEverywhere } from '../tabs.ts'
import { domainListQuery } from '../dns/queries.ts'
import { chooseLanguage } from '../choose-language.ts'
import { useTexts } from '../i18n/index.ts'
import { recentInvoicesQuery } from '../invoices/queries.ts'
import { useConfig, useMe } from '../queries.ts'
import { afterFrame } from '../ui/after-frame.ts'
import { cx } from '../ui/cx.ts'
import { setTheme } from '../ui/theme.ts'
import { serverQuery, serversQuery } from '../wordpress/queries.ts'
import { openTabs } from '../wordpress/site-tabs.ts'
import { tabNames } from '../wordpress/tab-names.ts'
import { fold } from '../../contract/fold.ts'
import { may } from '../may.ts'
import type { HeldKeys } from './held-keys.ts'
import { isOpen, products } from './products.ts'
import { idleChoices, setLockAfter } from './idle-lock.ts'

interface Command {
  id: string
  kind: string
  label: string
  run: () => void
  /** Shown only when the query names two things of it: there are too many to list. */
  deep?: boolean
}

/** Options that are rendered before the user scrolls; eight are in view. */
const drawnAtFirst = 12

/**
 * The command palette: the screens, general actions, and the newest servers, domains and invoices.
 * The parts of the open server are listed; those of other servers are found by name and part ("shop
 * logs"). Accents may be left out: "nap vi" finds "Nạp ví". It begins with the keys that were typed
 * before it was loaded.
 */
export default function Palette({ held, onClose }: { held: HeldKeys; onClose: () => void }) {
  const t = useTexts('palette')
  const layer = useRef<HTMLDialogElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState(() => held.typed)
  /**
   * The chosen command, by its id, because lists that load while it is open insert commands before
   * it.
   */
  const [choice, setChoice] = useState<string>()
  const commands = useCommands()
  // Typed text appears at once; the list follows.
  const deferredQuery = useDeferredValue(query)
  const hits = useMemo(() => matching(commands, deferredQuery), [commands, deferredQuery])
  const chosen = indexOf(hits, choice)
  // The release of a key waits for all rendering, so options out of view are left out until the
  // user scrolls.
  const [scrolled, setScrolled] = useState(false)
  const drawn = scrolled ? hits : hits.slice(0, Math.max(drawnAtFirst, chosen + 2))

  // Before paint, because the user goes on typing at once.
  useLayoutEffect(() => {
    layer.current?.showPopover()
    field.current?.focus()
    held.release()
  }, [held])
  /** Closes the palette and returns whether it was open. The browser restores the focus. */
  const close = useCallback(() => {
    if (layer.current?.matches(':popover-open') !== true) return false
    layer.current.hidePopover()
    return true
  }, [])
  useEffect(() => {
    document.getElementById(`command-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen])

  const run = useCallback(
    (command: Command | undefined) => {
      if (!command || !close()) return
      void afterFrame().then(command.run)
    },
    [close],
  )

  return (
    // Over the whole page, but not modal: to make the page behind inert, the browser would restyle
    // all of its elements, which takes 100 ms on a slow processor. Only the field takes focus here,
    // so Tab stays in it.
    /* oxlint-disable-next-line jsx-a11y/click-events-have-key-events,
       jsx-a11y/no-noninteractive-element-interactions */
    <dialog
      ref={layer}
      popover="auto"
      aria-modal
      aria-label={t.palette.title}
      tabIndex={-1}
      onToggle={({ newState }) => {
        if (newState === 'closed') onClose()
      }}
      onClick={(event) => {
        if (event.target === layer.current) close()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Tab') return
        event.preventDefault()
        field.current?.focus()
      }}
      className={
        'inset-0 m-0 size-full max-h-none max-w-none overflow-hidden bg-scrim text-ink ' +
        'outline-none'
      }
    >
      <div
        className={
          'mx-auto mt-[12vh] w-[min(94vw,600px)] overflow-hidden rounded-xl bg-raised ' +
          'shadow-dialog'
        }
      >
        <div className="flex items-center gap-3 border-b border-border px-4">
          <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
          <input
            ref={field}
            role="combobox"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={hits[chosen] ? `command-${chosen}` : undefined}
            aria-label={t.palette.placeholder}
            placeholder={t.palette.placeholder}
            className={
              'h-13 min-w-0 flex-1 bg-transparent text-base outline-none ' +
              'placeholder:text-ink-3 max-sm:text-[16px]'
            }
            value={query}
            onChange={(event) => {
              setQuery(event.target.value)
              setChoice(undefined)
            }}
            onKeyDown={(event) => {
              // Uses the typed query, not the list rendered so far.
              const found = matching(commands, query)
              if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                event.preventDefault()
                const step = event.key === 'ArrowDown' ? 1 : -1
                setChoice(
                  (now) => (found[indexOf(found, now) + step] ?? found[indexOf(found, now)])?.id,
                )
              } else if (event.key === 'Enter') run(found[indexOf(found, choice)])
            }}
          />
          <kbd
            aria-hidden
            className={
              'rounded-[5px] bg-subtle px-1.5 py-0.5 font-sans text-2xs text-ink-3 ' +
              'dark:bg-white/6'
            }
          >
            Esc
          </kbd>
        </div>
        <ul
          id="commands"
          /* oxlint-disable-next-line
             jsx-a11y/no-noninteractive-element-to-interactive-role,
             jsx-a11y/prefer-tag-over-role */
          role="listbox"
          aria-label={t.palette.title}
          className="max-h-80 overflow-y-auto p-1.5"
          hidden={hits.length === 0}
          onScroll={() => setScrolled(true)}
        >
          {drawn.map((command, index) => (
            <Option
              key={command.id}
              command={command}
              index={index}
              of={hits.length}
              chosen={index === chosen}
              onPoint={setChoice}
              onRun={run}
            />
          ))}
        </ul>
        {hits.length === 0 ? (
          <p className="px-5 py-8 text-center text-sm text-ink-3">
            {t.palette.none(deferredQuery)}
          </p>
        ) : null}
        {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
        <p role="status" className="sr-only">
          {t.palette.results(hits.length)}
        </p>
      </div>
    </dialog>
  )
}

/** The index of the chosen command; 0 where none is chosen, or it is no longer in the list. */
const indexOf = (commands: readonly Command[], id: string | undefined): number =>
  Math.max(
    0,
    commands.findIndex((command) => command.id === id),
  )

/** Commands that contain every word of the query, with or without accents. */
function matching(commands: readonly Command[], query: string): Command[] {
  const words = fold(query).split(/\s+/).filter(Boolean)
  return commands.filter(
    ({ kind, label, deep }) =>
      (!deep || words.length > 1) && words.every((word) => fold(`${kind} ${label}`).includes(word)),
  )
}

interface OptionProps {
  command: Command
  index: number
  /** The number of all options, rendered or not. */
  of: number
  chosen: boolean
  onPoint: (id: string) => void
  onRun: (command: Command) => void
}

const Option = memo(function Option({ command, index, of, chosen, onPoint, onRun }: OptionProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <li
      id={`command-${index}`}
      /* oxlint-disable-next-line
         jsx-a11y/no-noninteractive-element-to-interactive-role,
         jsx-a11y/prefer-tag-over-role */
      role="option"
      aria-selected={chosen}
      aria-posinset={index + 1}
      aria-setsize={of}
      onPointerMove={() => onPoint(command.id)}
      onClick={() => onRun(command)}
      className={cx(
        'flex h-10 cursor-pointer items-center gap-3 rounded-md px-3 text-sm',
        chosen && 'bg-primary-soft text-primary-ink',
      )}
    >
      <span className="w-20 shrink-0 text-xs text-ink-3">{command.kind}</span>
      <span className="flex-1 truncate font-medium">{command.label}</span>
      {chosen ? <CornerDownLeft aria-hidden className="size-3.5" /> : null}
    </li>
  )
})

function useCommands(): Command[] {
  const t = useTexts('palette', 'site')
  const router = useRouter()
  const queryClient = useQueryClient()
  const { payments, products: flags } = useConfig()
  const [seesThings, seesMoney] = [may('servers:read'), may('money:read')]
  const { data: servers } = useQuery({ ...serversQuery, enabled: seesThings })
  const { data: domains } = useInfiniteQuery({
    ...domainListQuery(),
    enabled: flags.dns && seesThings,
  })
  const { data: invoices } = useQuery({ ...recentInvoicesQuery, enabled: seesMoney })
  const [page] = useState(() =>
    /^\/(wordpress|hosting)\/([^/]+)$/.exec(router.latestLocation.pathname),
  )
  // The server's own page fetches it; here it is only read from the cache.
  const { data: open } = useQuery({ ...serverQuery(page?.[2] ?? ''), enabled: false })
  const takesCards = payments[useMe().region_code]?.cards === true
  return useMemo(() => {
    const sold = products.filter((product) => isOpen(product, flags))
    const go = (id: string, label: string, run: () => unknown): Command => ({
      id,
      kind: t.palette.go,
      label,
      run: () => void run(),
    })
    const act = (id: string, label: string, run: () => unknown): Command => ({
      id,
      kind: t.palette.act,
      label,
      run: () => void run(),
    })
    const names = tabNames(t)
    const tabs = openTabs(may('servers:write'))
    const parts = (id: string, name: string, deep: boolean): Command[] => {
      const to = !deep && page?.[1] === 'hosting' ? '/hosting/$id' : '/wordpress/$id'
      return tabs.map((tab) => ({
        id: `${id} ${tab}`,
        kind: t.palette.server,
        label: `${name} · ${names[tab]}`,
        run: () =>
          void router.navigate({ to, params: { id }, search: tab === 'general' ? {} : { tab } }),
        deep,
      }))
    }
    return [
      ...(seesThings && seesMoney
        ? [go('home', t.nav.overview, () => router.navigate({ to: '/' }))]
        : []),
      ...(seesThings ? sold : []).map(({ key, to = '/' }) =>
        go(key, t.nav[key], () => router.navigate({ to })),
      ),
      ...(seesMoney
        ? [
            go('transactions', t.nav.transactions, () => router.navigate({ to: '/transactions' })),
            go('invoices', t.nav.invoices, () => router.navigate({ to: '/invoice' })),
          ]
        : []),
      ...(may('money:write')
        ? [go('account', t.shell.account, () => router.navigate({ to: '/account' }))]
        : []),
      ...(takesCards && seesMoney
        ? [go('cards', t.nav.cards, () => router.navigate({ to: '/link-card' }))]
        : []),
      ...(may('tickets:read')
        ? [go('support', t.nav.support, () => router.navigate({ to: '/support' }))]
        : []),
      go('help', t.palette.help, () => router.navigate({ to: '/docs' })),
      ...(may('money:write')
        ? [act('topUp', t.nav.topUp, () => router.navigate({ to: '/payment' }))]
        : []),
      ...(may('orders') && sold.some(({ key }) => key === 'wordpress')
        ? [
            act('create', t.palette.newWordpress, () =>
              router.navigate({ to: '/wordpress/create' }),
            ),
          ]
        : []),
      ...(servers?.result ?? []).map((server) => ({
        id: server.id,
        kind: t.palette.server,
        label: `${server.name} · ${server.domain}`,
        run: () => void router.navigate({ to: '/wordpress/$id', params: { id: server.id } }),
      })),
      ...(open ? parts(open.id, open.name, false) : []),
      ...(servers?.result ?? [])
        .filter(({ id }) => id !== page?.[2])
        .flatMap(({ id, name }) => parts(id, name, true)),
      ...(domains?.pages[0]?.result.data ?? []).map(({ id, name }) => ({
        id,
        kind: t.palette.domain,
        label: name,
        run: () => void router.navigate({ to: '/dns/domain/$id', params: { id } }),
      })),
      ...(invoices ?? []).map(({ id, number, hosted_invoice_url: url }) => ({
        id,
        kind: t.palette.invoice,
        label: number ?? t.common.draft,
        run: () => void router.navigate({ to: new URL(url).pathname }),
      })),
      act('light', `${t.shell.theme}: ${t.shell.light}`, () => setTheme('light')),
      act('dark', `${t.shell.theme}: ${t.shell.dark}`, () => setTheme('dark')),
      act('system', `${t.shell.theme}: ${t.shell.system}`, () => setTheme('system')),
      act('en', `${t.shell.language}: English`, () => chooseLanguage('en', queryClient)),
      act('vi', `${t.shell.language}: Tiếng Việt`, () => chooseLanguage('vi', queryClient)),
      act('aud', `${t.shell.language}: Australia`, () => chooseLanguage('aud', queryClient)),
      act('lock', t.shell.lock, () => lockEverywhere()),
      ...idleChoices.map((minutes) =>
        act(`idle-${minutes}`, t.palette.lockAfter(minutes), () => setLockAfter(minutes)),
      ),
      act('out', t.shell.signOut, () =>
        signOut(queryClient, () => router.navigate({ to: '/login' })),
      ),
    ]
  }, [
    t,
    router,
    queryClient,
    page,
    open,
    servers,
    domains,
    invoices,
    takesCards,
    flags,
    seesThings,
    seesMoney,
  ])
}

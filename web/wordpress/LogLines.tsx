import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type RefObject,
} from 'react'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { blocksOf, shownSource, type LogBlock, type LogLine } from './log-ring.ts'

const rowPx = 20
/** Within this many pixels of the end, the view counts as "at the end". */
const nearEndPx = 40
/**
 * Blocks within this many pixels outside the view are already rendered, so that scrolling never
 * shows a gap.
 */
const marginPx = 800

interface LogLinesProps {
  lines: readonly LogLine[]
  wrap: boolean
  follow: boolean
  onFollow: (follow: boolean) => void
  empty: string
}

/**
 * The lines in blocks of a hundred, of which only those near the view are in the document. A line's
 * height depends on wrapping. Scrolling up stops following the end; reaching the end resumes it.
 */
export function LogLines({ lines, wrap, follow, onFollow, empty }: LogLinesProps) {
  const t = useTexts('site', 'parts')
  const area = useRef<HTMLDivElement>(null)
  const blocks = useMemo(() => blocksOf(lines), [lines])

  // Blocks that are not rendered again still need the present value of `follow`, so a ref holds it.
  const following = useRef(follow)
  const settle = useCallback(() => {
    if (following.current) area.current?.scrollTo({ top: area.current.scrollHeight })
  }, [])
  useLayoutEffect(() => {
    following.current = follow
    settle()
  }, [follow, lines, wrap, settle])

  /**
   * Following only scrolls down, so an upward scroll, by wheel, finger, key or scrollbar, comes
   * from the user.
   */
  const top = useRef(0)
  const onScroll = () => {
    const { current } = area
    if (!current) return
    const atEnd = current.scrollHeight - current.scrollTop - current.clientHeight < nearEndPx
    if (atEnd) onFollow(true)
    else if (current.scrollTop < top.current) onFollow(false)
    top.current = current.scrollTop
  }

  return (
    <div
      ref={area}
      role="log"
      aria-live="off"
      aria-label={t.logs.title}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onScroll={onScroll}
      className={
        'h-[1000px] max-lg:h-[calc(100dvh-31rem)] max-lg:min-h-72 overflow-auto rounded-lg ' +
        'bg-[#0d111a] py-2 font-mono text-xs/5 text-[#d5dbe8] ' +
        'dark:shadow-[inset_0_0_0_1px_var(--border)]'
      }
    >
      {lines.length === 0 ? (
        <p className="px-4 py-10 text-center font-sans text-sm text-[#9aa5ba]">{empty}</p>
      ) : null}
      <div className={wrap ? 'w-full' : 'w-max min-w-full'}>
        {blocks.map((block) => (
          <Block key={block.key} block={block} wrap={wrap} area={area} onResize={settle} />
        ))}
      </div>
    </div>
  )
}

interface BlockProps {
  block: LogBlock
  wrap: boolean
  area: RefObject<HTMLDivElement | null>
  /** Called when the block's height differs from the estimate. */
  onResize: () => void
}

/** Unchanged blocks are not rendered again when a line arrives. */
const Block = memo(
  function Block({ block, wrap, area, onResize }: BlockProps) {
    const place = useRef<HTMLDivElement>(null)
    const [visible, setVisible] = useState(true)
    const [height, setHeight] = useState(block.lines.length * rowPx)

    useEffect(() => {
      const element = place.current
      if (!element) return
      const observer = new IntersectionObserver(
        ([entry]) => {
          if (!entry) return
          if (!entry.isIntersecting) setHeight(entry.boundingClientRect.height)
          setVisible(entry.isIntersecting)
        },
        { root: area.current, rootMargin: `${marginPx}px 0px` },
      )
      observer.observe(element)
      return () => observer.disconnect()
    }, [area])
    useLayoutEffect(() => {
      if (visible) onResize()
    }, [visible, onResize])

    return (
      <div ref={place} style={visible ? undefined : { height }}>
        {visible
          ? block.lines.map((line) => (
              <div
                key={line.number}
                className={cx(
                  'min-w-full px-4 hover:bg-white/5',
                  wrap ? 'break-all whitespace-pre-wrap' : 'whitespace-pre',
                )}
              >
                {line.source === '' ? null : (
                  <span className="text-[#8391ab]">{shownSource(line.source)} </span>
                )}
                {line.text}
              </div>
            ))
          : null}
      </div>
    )
  },
  (before, after) =>
    before.wrap === after.wrap &&
    before.block.lines.length === after.block.lines.length &&
    before.block.lines[0] === after.block.lines[0] &&
    before.block.lines.at(-1) === after.block.lines.at(-1),
)

import { Search } from 'lucide-react'
import { useEffect, useState, type Ref } from 'react'
import { cx } from './cx.ts'
import { Input } from './Field.tsx'

/** Typing must rest this long before the search is sent, ms. */
const restMs = 300

interface SearchFieldProps {
  label: string
  placeholder: string
  maxLength: number
  /** The search that the address has; empty: none. */
  value: string
  /** Called with what was typed, once typing rests; undefined: nothing. Keep it stable. */
  onChange: (search: string | undefined) => void
  className?: string
  ref?: Ref<HTMLInputElement> | undefined
}

/** A field for a search that the page's address keeps. */
export function SearchField({
  label,
  placeholder,
  maxLength,
  value,
  onChange,
  className,
  ref,
}: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  /** What this field sent and the address does not have yet, in order. */
  const [sent, setSent] = useState<readonly string[]>([])
  if (known !== value) {
    setKnown(value)
    // Typing goes on while the address changes, so what this field sent replaces nothing. What
    // something else chose does: the back button, or "show all".
    const own = sent.indexOf(value)
    setSent(own === -1 ? [] : sent.slice(own + 1))
    if (own === -1) setTyped(value)
  }
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === value) return
    const timer = setTimeout(() => {
      setSent((before) => [...before, wanted])
      onChange(wanted || undefined)
    }, restMs)
    return () => clearTimeout(timer)
  }, [typed, value, onChange])
  return (
    <div className={cx('relative', className)}>
      <Search aria-hidden className="pointer-events-none absolute top-3 left-3 size-4 text-ink-3" />
      <Input
        ref={ref}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className="pl-9"
      />
    </div>
  )
}

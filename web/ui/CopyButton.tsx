import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from './Button.tsx'

/**
 * The clipboard API exists only on https and localhost; elsewhere a selected textarea is copied.
 */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

export function CopyButton({
  text,
  label,
  doneLabel,
  className,
}: {
  text: string
  label: string
  doneLabel: string
  className?: string
}) {
  const [done, setDone] = useState(false)
  const copy = () => {
    void copyText(text).then(() => {
      setDone(true)
      setTimeout(() => setDone(false), 2000)
    })
  }
  return (
    <span className="inline-flex">
      <IconButton label={label} size="size-8" className={className ?? 'text-ink-3'} onClick={copy}>
        {done ? (
          <Check aria-hidden className="size-4 text-success" />
        ) : (
          <Copy aria-hidden className="size-4" />
        )}
      </IconButton>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
      <span role="status" className="sr-only">
        {done ? doneLabel : ''}
      </span>
    </span>
  )
}

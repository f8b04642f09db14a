import { Globe } from 'lucide-react'

/** Flags in public/flags.svg: emoji flags do not render on Windows. */
const drawn = ['VN', 'SG', 'JP', 'DE', 'AU', 'GB', 'US']

export function Flag({ country }: { country: string }) {
  const code = country.toUpperCase()
  if (!drawn.includes(code))
    return <Globe aria-hidden className="size-5 shrink-0 text-ink-3" strokeWidth={1.75} />
  return (
    <svg
      width="20"
      height="14"
      aria-hidden
      className="shrink-0 rounded-[3px] shadow-[0_0_0_1px_rgb(0_0_0/.12)]"
    >
      <use href={`/flags.svg#${code}`} />
    </svg>
  )
}

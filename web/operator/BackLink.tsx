import { ArrowLeft } from 'lucide-react'
import { DeskLink } from './path.tsx'

/** A link from one item back to its list. */
export function BackLink({ to, text }: { to: string; text: string }) {
  return (
    <DeskLink
      to={to}
      className="mb-3 inline-flex items-center gap-1.5 text-sm text-primary-ink hover:underline"
    >
      <ArrowLeft aria-hidden className="size-4" />
      {text}
    </DeskLink>
  )
}

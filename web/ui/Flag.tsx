import { Globe } from 'lucide-react'
import type { ReactNode } from 'react'

/** Small drawn flags: emoji flags do not render on Windows. */
const drawings: Record<string, ReactNode> = {
  VN: (
    <>
      <path fill="#DA251D" d="M0 0h20v14H0z" />
      <path fill="#FF0" d="m10 2.6 1 3.2h3.4L11.7 7.8l1 3.2L10 9l-2.7 2 1-3.2-2.7-2H9z" />
    </>
  ),
  SG: (
    <>
      <path fill="#fff" d="M0 0h20v14H0z" />
      <path fill="#ED2939" d="M0 0h20v7H0z" />
      <circle cx="5" cy="3.5" r="2.3" fill="#fff" />
      <circle cx="6" cy="3.5" r="2.1" fill="#ED2939" />
    </>
  ),
  JP: (
    <>
      <path fill="#fff" d="M0 0h20v14H0z" />
      <circle cx="10" cy="7" r="4" fill="#BC002D" />
    </>
  ),
  DE: (
    <>
      <path fill="#000" d="M0 0h20v5H0z" />
      <path fill="#D00" d="M0 4.7h20v5H0z" />
      <path fill="#FFCE00" d="M0 9.3h20V14H0z" />
    </>
  ),
  AU: (
    <>
      <path fill="#012169" d="M0 0h20v14H0z" />
      <path stroke="#fff" strokeWidth="1.6" d="m0 0 10 7M10 0 0 7" />
      <path stroke="#fff" strokeWidth="2.4" d="M5 0v7M0 3.5h10" />
      <path stroke="#E4002B" strokeWidth="1.4" d="M5 0v7M0 3.5h10" />
      <g fill="#fff">
        <circle cx="5" cy="10.5" r="1.1" />
        <circle cx="15" cy="3" r=".8" />
        <circle cx="15" cy="11" r=".8" />
        <circle cx="12.5" cy="6.6" r=".7" />
        <circle cx="17.4" cy="5.8" r=".7" />
      </g>
    </>
  ),
  GB: (
    <>
      <path fill="#012169" d="M0 0h20v14H0z" />
      <path stroke="#fff" strokeWidth="2.6" d="m0 0 20 14M20 0 0 14" />
      <path stroke="#C8102E" strokeWidth="1.2" d="m0 0 20 14M20 0 0 14" />
      <path stroke="#fff" strokeWidth="4.6" d="M10 0v14M0 7h20" />
      <path stroke="#C8102E" strokeWidth="2.6" d="M10 0v14M0 7h20" />
    </>
  ),
  US: (
    <>
      <path fill="#fff" d="M0 0h20v14H0z" />
      <path stroke="#B22234" strokeWidth="1.1" d="M0 .5h20M0 2.7h20M0 4.8h20M0 7h20M0 9.2h20M0 11.3h20M0 13.5h20" />
      <path fill="#3C3B6E" d="M0 0h9v7.5H0z" />
    </>
  ),
}

export function Flag({ country }: { country: string }) {
  const drawing = drawings[country.toUpperCase()]
  if (!drawing) return <Globe aria-hidden className="size-5 shrink-0 text-ink-3" strokeWidth={1.75} />
  return (
    <svg width="20" height="14" viewBox="0 0 20 14" aria-hidden className="shrink-0 rounded-[3px] shadow-[0_0_0_1px_rgb(0_0_0/.12)]">
      {drawing}
    </svg>
  )
}

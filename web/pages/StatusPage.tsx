import type { ReactNode } from 'react'
import { brand } from '../brand.ts'
import { Logo } from '../ui/Logo.tsx'

interface StatusPageProps {
  code?: string
  title: string
  text: string
  children: ReactNode
}

/** The layout of every page that only shows a message. */
export function StatusPage({ code, title, text, children }: StatusPageProps) {
  return (
    <main className="grid min-h-dvh place-items-center p-6">
      <title>{`${title} · ${brand}`}</title>
      <div className="flex max-w-md flex-col items-center text-center">
        <Logo className="size-11" />
        {code ? <p className="num mt-6 text-sm font-medium text-ink-3">{code}</p> : null}
        <h1
          tabIndex={-1}
          className={
            code
              ? 'mt-1 text-2xl font-semibold tracking-[-.02em]'
              : 'mt-6 text-2xl font-semibold tracking-[-.02em]'
          }
        >
          {title}
        </h1>
        <p className="mt-2 text-base text-ink-2">{text}</p>
        <div className="mt-6 flex flex-wrap justify-center gap-2">{children}</div>
      </div>
    </main>
  )
}

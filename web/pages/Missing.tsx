import { SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { Empty } from '../ui/State.tsx'

/** In place of what does not exist, or is somebody else's: which it is, and the way to its list. */
export function Missing({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Empty text={text} icon={SearchX} className="py-14">
      {children}
    </Empty>
  )
}

import type { Mend } from './mend.ts'

export const hosting: readonly Mend[] = []

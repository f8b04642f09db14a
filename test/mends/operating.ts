import type { Mend } from './mend.ts'

export const operating: readonly Mend[] = []

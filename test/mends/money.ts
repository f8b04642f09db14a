import type { Mend } from './mend.ts'

export const money: readonly Mend[] = []

import type { Mend } from './mend.ts'

export const screens: readonly Mend[] = []

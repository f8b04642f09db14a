import type { Mend } from './mend.ts'

export const server: readonly Mend[] = []

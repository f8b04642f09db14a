import type { Mend } from './mend.ts'

export const security: readonly Mend[] = []

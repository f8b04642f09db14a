/** Keyset cursors: the last position of a page, opaque to the caller. */
import type { Language } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { Refusal } from './errors.ts'

export const encodeCursor = (position: bigint | null): string | null =>
  position === null ? null : Buffer.from(`v1:${position}`).toString('base64url')

/** Null without a cursor. Refuses one that is not ours with invalid_input. */
export function decodeCursor(cursor: string | undefined, language: Language): bigint | null {
  if (cursor === undefined) return null
  const match = /^v1:(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match?.[1])
    throw new Refusal('invalid_input', { fields: { cursor: ruleText('cursor', language) } })
  return BigInt(match[1])
}

export class Refused extends Error {}

/**
 * Throws with the reason when the statement is refused. `expectedKey`: the fingerprint (hex) that
 * it must be signed with.
 */
export declare function verifyStatement(
  file: string | Uint8Array,
  expectedKey?: string,
): { head: Record<string, string | number>; fingerprint: string; entries: number }

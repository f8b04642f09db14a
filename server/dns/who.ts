/** Who changed records of a domain: the owner, a member, a program, or whoever had it before. */
import type { Change } from '../../contract/dns-changes.ts'
import type { Language } from '../../contract/errors.ts'
import type { Queryable } from '../platform/db.ts'
import type { Caller } from '../platform/http.ts'

/** Both null: the customer in person. */
export interface ChangedBy {
  /** The own account of the member who worked in the customer's. */
  readonly personId: string | null
  /** The name of the program's token. */
  readonly tokenName: string | null
}
export interface NameNeeds {
  /** The name of a customer, or of a person who works for one. */
  readonly nameOf: (db: Queryable, customerId: string) => Promise<string>
  /** The name of a token; undefined: it was revoked meanwhile. */
  readonly tokenName: (db: Queryable, tokenId: string) => Promise<string | undefined>
}

const texts = {
  former: { en: 'The owner before you', vi: 'Chủ sở hữu trước' },
  program: { en: 'A program', vi: 'Một ứng dụng' },
} as const
const ofToken = { en: (name: string) => `Token ${name}`, vi: (name: string) => `Token ${name}` }

export async function changedBy(
  db: Queryable,
  needs: NameNeeds,
  caller: Caller | undefined,
): Promise<ChangedBy> {
  const isProgram = caller?.heldBy === 'program'
  return {
    personId: caller?.member?.personId ?? null,
    tokenName: isProgram ? ((await needs.tokenName(db, caller.sessionId)) ?? '') : null,
  }
}

interface Changed {
  readonly by_former_owner: boolean
  readonly person_id: string | null
  readonly token_name: string | null
}

/**
 * Names for the changes of one page, in the reader's language. Of an account that had the domain
 * before nothing is told, not even who worked in it.
 */
export function namesOf(
  db: Queryable,
  needs: NameNeeds,
  { ownerId, language }: { readonly ownerId: string; readonly language: Language },
): (row: Changed) => Promise<Pick<Change, 'who' | 'by'>> {
  const names = new Map<string, Promise<string>>()
  const nameOf = (id: string): Promise<string> => {
    const known = names.get(id) ?? needs.nameOf(db, id)
    names.set(id, known)
    return known
  }
  return async (row) => {
    if (row.by_former_owner) return { by: 'former_owner', who: texts.former[language] }
    if (row.person_id !== null) return { by: 'member', who: await nameOf(row.person_id) }
    if (row.token_name === null) return { by: 'owner', who: await nameOf(ownerId) }
    const who = row.token_name === '' ? texts.program : undefined
    return { by: 'token', who: who?.[language] ?? ofToken[language](row.token_name) }
  }
}

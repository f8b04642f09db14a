/** What a task of the operator's day is. */
import type { ActName } from '../contract/operator-acts.ts'
import type { OperatorTexts } from '../web/i18n/en-operator.ts'
import type { DeskLanguage } from '../web/operator/language.ts'
import type { Hand } from './day-hand.ts'
import type { Provider, Role } from './day-provider.ts'

export interface Day {
  readonly provider: Provider
  readonly t: OperatorTexts
  readonly language: DeskLanguage
  readonly hands: Readonly<Record<Role, Hand>>
}
export interface Task {
  readonly name: string
  /** Who does it. */
  readonly role: Role
  /** What somebody mends outside of the portal before it. */
  readonly before?: (day: Day) => void
  /** From the desk's start page, by presses and keys, until the page shows that it is done. */
  does(day: Day, hand: Hand): Promise<void>
  /** What the server says of it; its time is not counted. */
  readonly proof?: (day: Day) => Promise<void>
}

/** Fails the task unless it holds. */
export function stated(what: string, holds: boolean): void {
  if (!holds) throw new Error(`the server does not say: ${what}`)
}

/** What an act is called on its button. */
export const named = (t: OperatorTexts, act: ActName): string => t.acts[act] ?? act

/** The form of a task of the operator's day. */
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
  /** The role of the member who does it. */
  readonly role: Role
  /** A repair outside of the portal before the task. */
  readonly before?: (day: Day) => void
  /** Done from the desk's start page, by presses and keys, until the page shows the result. */
  does(day: Day, hand: Hand): Promise<void>
  /** Checks the result at the server; its time is not counted. */
  readonly proof?: (day: Day) => Promise<void>
}

/** Fails the task if the check does not hold. */
export function stated(what: string, holds: boolean): void {
  if (!holds) throw new Error(`the server does not say: ${what}`)
}

/** The label of an act's button. */
export const named = (t: OperatorTexts, act: ActName): string => t.acts[act] ?? act

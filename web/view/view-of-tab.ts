/** What a tab in which the staff sees a customer's portal knows of it, in its session storage. */
export interface ViewOfTab {
  /** Of the customer. */
  readonly name: string
  readonly expiresAt: string
}

/** What a tab with a staff member's view stores about the customer, in session storage. */
export interface ViewOfTab {
  /** The customer's name. */
  readonly name: string
  readonly expiresAt: string
}

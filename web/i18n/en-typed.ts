/** Before a dialog is closed in which somebody typed. */
export const enTyped = {
  ask: 'Close without saving what you typed?',
  discard: 'Discard',
  goOn: 'Keep editing',
}

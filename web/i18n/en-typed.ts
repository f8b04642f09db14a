/** The question before closing a dialog that holds typed text. */
export const enTyped = {
  ask: 'Close without saving what you typed?',
  discard: 'Discard',
  goOn: 'Keep editing',
}

/** Acts that commands do and the desk only shows in the trail (decision 141). */
export const enShellActs = {
  names: {
    'mail.suspend': 'Suspend email of a server',
    'mail.resume': 'Resume email of a server',
  },
  facts: {
    mailSuspended: 'Email suspended for',
    note: 'Note',
  },
}

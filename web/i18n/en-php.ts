/** The part of a server's speed about PHP. */
export const enPhp = {
  php: {
    title: 'PHP',
    hint:
      'Memory comes with the plan. A change replaces the containers one after the other; ' +
      'visitors do not notice.',
    upload: 'Largest upload, MB',
    uploadHint: 'For themes, plugins, media and backups that you upload in wp-admin. 8 to 128.',
    seconds: 'Longest time for a page, seconds',
    secondsHint: (most: number) => `A page that takes longer is stopped. 5 to ${most}.`,
    vars: 'Form fields',
    varsHint: 'Raise it when large menus or product forms lose entries. 1,000 to 20,000.',
    debug: 'Debug mode (WP_DEBUG)',
    debugHint: 'Notices of plugins and themes go to Runtime Logs. Visitors never see them.',
    save: 'Save',
    saved: 'PHP settings saved. They apply within a minute.',
    applying: 'The settings are being applied…',
    closed: 'PHP can be set while the server runs.',
  },
}

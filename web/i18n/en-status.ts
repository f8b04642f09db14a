/** English: status notices. Loaded with the screens that show them, in both languages. */
export const enStatus = {
  title: 'Status',
  sub: (brand: string) => `What is going on at ${brand}`,
  states: {
    working: 'Everything works',
    incident: 'There is an incident',
    maintenance: 'Maintenance is under way',
  },
  kinds: { announcement: 'Announcement', incident: 'Incident', maintenance: 'Maintenance' },
  coming: 'To come',
  past: 'Last 90 days',
  noPast: 'Nothing happened.',
  fromUntil: (from: string, until: string) => `${from} until ${until}`,
  since: (when: string) => `Since ${when}`,
  closes: 'The portal is closed meanwhile. Sites and domains go on.',
  more: 'Details',
  dismiss: 'Dismiss',
  retry: 'Try again',
  portal: 'To the portal',
  offline: 'You are offline. What you see may be out of date.',
  notLoaded:
    'You are offline, and this is not loaded yet. Check your Wi-Fi or mobile data. What is ' +
    'missing appears by itself once you are connected.',
}

/** The review of the order before payment, and the question before the order is left. */
export const enReview = {
  review: {
    title: 'Confirm information',
    text: 'Check your order. We charge your wallet when you confirm.',
    region: 'Data center',
    plan: 'Configuration',
    mail: 'Email',
    anHour: (count: string) => `up to ${count} an hour`,
    mirror: 'Mirror',
    mirrored: 'copy on a second machine',
    disk: 'SSD disk',
    mariadb: 'MariaDB',
    user: 'User name',
    password: 'Password',
    containers: 'Containers',
    monthly: 'Monthly cost',
    left: 'Left in your wallet',
    confirmShort: (amount: string) => `Confirm, then top up ${amount}`,
    confirm: (price: string) => `Confirm · ${price}`,
    shortNote: "Your balance is too low. We'll start your server as soon as you top up.",
    coupon: {
      have: 'I have a coupon',
      label: 'Coupon code',
      apply: 'Apply',
      empty: 'Enter a code.',
      remove: 'Remove',
      applied: (code: string, off: string) => `Coupon ${code}: ${off} off the first month.`,
      first: 'First month',
    },
    leaveTitle: 'Leave this page?',
    leaveText: 'The order is not placed yet. What you have filled in will be lost.',
    leaveStay: 'Stay',
    leaveGo: 'Leave page',
    sqliteNote:
      'WordPress runs on SQLite here, in the place of MariaDB: plugins that need MySQL itself ' +
      'do not work.',
  },
}

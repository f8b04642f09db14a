import type { enShellActs } from './en-operator-shell.ts'

export const viShellActs: {
  readonly [K in keyof typeof enShellActs]: Record<keyof (typeof enShellActs)[K], string>
} = {
  names: {
    'mail.suspend': 'Tạm ngưng email của máy chủ',
    'mail.resume': 'Cho máy chủ gửi email trở lại',
  },
  facts: {
    mailSuspended: 'Lý do ngưng email',
    note: 'Ghi chú',
  },
}

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { audAuth } from './aud-auth.ts'
import { audDashboard } from './aud-dashboard.ts'
import { audReview } from './aud-review.ts'
import { audServers } from './aud-servers.ts'
import { enAccount } from './en-account.ts'
import { enAddress } from './en-address.ts'
import { enAuth } from './en-auth.ts'
import { enCards } from './en-cards.ts'
import { enDashboard } from './en-dashboard.ts'
import { enDns } from './en-dns.ts'
import { enDnsParts } from './en-dns-parts.ts'
import { enDnsRecord } from './en-dns-record.ts'
import { enDocs } from './en-docs.ts'
import { enInvoices } from './en-invoices.ts'
import { enPaas } from './en-paas.ts'
import { enPalette } from './en-palette.ts'
import { enMoveIn } from './en-move-in.ts'
import { enParts } from './en-parts.ts'
import { enPayments } from './en-payments.ts'
import { enReview } from './en-review.ts'
import { enSecurity } from './en-security.ts'
import { enServers } from './en-servers.ts'
import { enSite } from './en-site.ts'
import { enTools } from './en-tools.ts'
import { enTopUp } from './en-top-up.ts'
import { enWallet } from './en-wallet.ts'
import { en as enCore } from './en.ts'
import { viAccount } from './vi-account.ts'
import { viAddress } from './vi-address.ts'
import { viAuth } from './vi-auth.ts'
import { viCards } from './vi-cards.ts'
import { viDashboard } from './vi-dashboard.ts'
import { viDns } from './vi-dns.ts'
import { viDnsParts } from './vi-dns-parts.ts'
import { viDnsRecord } from './vi-dns-record.ts'
import { viDocs } from './vi-docs.ts'
import { viInvoices } from './vi-invoices.ts'
import { viPaas } from './vi-paas.ts'
import { viPalette } from './vi-palette.ts'
import { viMoveIn } from './vi-move-in.ts'
import { viParts } from './vi-parts.ts'
import { viPayments } from './vi-payments.ts'
import { viReview } from './vi-review.ts'
import { viSecurity } from './vi-security.ts'
import { viServers } from './vi-servers.ts'
import { viSite } from './vi-site.ts'
import { viTools } from './vi-tools.ts'
import { viTopUp } from './vi-top-up.ts'
import { viWallet } from './vi-wallet.ts'
import { vi as viCore } from './vi.ts'

const en = {
  ...enCore,
  ...enDashboard,
  ...enAuth,
  ...enTools,
  ...enTopUp,
  ...enDns,
  ...enDnsParts,
  ...enDnsRecord,
  ...enAccount,
  ...enAddress,
  ...enDocs,
  ...enInvoices,
  ...enPaas,
  ...enPalette,
  ...enMoveIn,
  ...enParts,
  cards: enCards,
  ...enPayments,
  ...enReview,
  ...enSecurity,
  ...enServers,
  ...enSite,
  ...enWallet,
}
const vi = {
  ...viCore,
  ...viDashboard,
  ...viAuth,
  ...viTools,
  ...viTopUp,
  ...viDns,
  ...viDnsParts,
  ...viDnsRecord,
  ...viAccount,
  ...viAddress,
  ...viDocs,
  ...viInvoices,
  ...viPaas,
  ...viPalette,
  ...viMoveIn,
  ...viParts,
  cards: viCards,
  ...viPayments,
  ...viReview,
  ...viSecurity,
  ...viServers,
  ...viSite,
  ...viWallet,
}
const aud = {
  ...enCore,
  ...audDashboard,
  ...audAuth,
  ...enTools,
  ...enTopUp,
  ...enDns,
  ...enDnsParts,
  ...enDnsRecord,
  ...enAccount,
  ...enAddress,
  ...enDocs,
  ...enInvoices,
  ...enPaas,
  ...enPalette,
  ...enMoveIn,
  ...enParts,
  cards: enCards,
  ...enPayments,
  ...audReview,
  ...enSecurity,
  ...audServers,
  ...enSite,
  ...enWallet,
}

type Tree = { [key: string]: unknown }
const paths = (tree: Tree, prefix = ''): string[] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? paths(value as Tree, `${prefix}${key}.`)
      : [`${prefix}${key}`],
  )

test('every language has the same texts, and none is empty', () => {
  for (const language of [vi, aud]) expect(paths(language).sort()).toEqual(paths(en).sort())
  expect(paths(viCards).sort()).toEqual(paths(enCards).sort())
  const empty = paths(vi).filter(
    (path) => path.split('.').reduce<unknown>((tree, key) => (tree as Tree)[key], vi) === '',
  )
  expect(empty).toEqual([])
})

test('the sentences of the specification stand word for word', () => {
  expect(en.toast).toMatchObject({
    error: 'Error !',
    success: 'Success !',
    tryAgain: 'Please try again !',
  })
  expect(en.lock.failed).toBe('Password invalid, please try again !')
  expect(en.auth.registered).toBe('Create account success,now confirm your phone number !')
  expect(en.auth.otpDone).toBe('Success, now login to system !')
  expect(en.auth.otpSent).toBe('OTP sent your phone number !')
  expect(en.shell.noNotifications).toBe('No notification !')
  expect(en.invoices.empty).toBe('No data !')
  expect([en.invoices.paid, en.invoices.unpaid]).toEqual(['Paid', 'UnPaid'])
  expect(en.order.failed).toBe('Fail to create Wordpress!')
  expect(en.progress.ready).toBe("Let's Panel WordPress now !")
  expect(en.logs.failed('ws://x')).toBe('Fail ! Can not connect to ws://x')
  expect(enCards.saved).toBe('Success! Your payment method has been saved')
  expect(enCards.processing).toBe(
    "Processing payment details. We'll update you when processing is complete",
  )
  expect(enCards.failed).toBe(
    'Failed to process payment details. Please try another payment method.',
  )
  expect([enCards.attached, enCards.notAttached]).toEqual([
    'Attached method payment !',
    'Can not attach method payment !',
  ])
  expect(enCards.credit).toBe('Credit Card')
  expect(enCards.payFailed).toBe('Fail! Please try again !')
  expect([viCards.unsuccessful, viCards.unsuccessfulText]).toEqual([
    'Không thành công !',
    'Có lỗi xảy ra vui lòng thử lại !',
  ])
  expect([viCards.paid, viCards.paidText]).toEqual([
    'Thành công!',
    'Xác nhận thanh toán thành công !',
  ])
  expect(vi.wp.steps).toEqual(['Đăng Ký Gói', 'Thanh Toán', 'Khởi Tạo'])
  expect(vi.progress.working).toBe('Quá trình đang diễn ra, vui lòng đợi trong giây lát')
  expect(vi.site.title).toBe('Thông tin máy chủ')
  expect(vi.review.title).toBe('Xác nhận thông tin')
  expect([vi.dns.title, vi.dns.create]).toEqual(['Danh sách tên miền', 'Tạo tên miền'])
  expect([en.dns.active, en.dns.pending]).toEqual(['Activated', 'Not Activated'])
  expect([vi.dns.activate, vi.domain.check, vi.dns.details, vi.dns.delete]).toEqual([
    'Kích hoạt',
    'Kiểm Tra',
    'Chi tiết',
    'Xoá',
  ])
  expect(vi.domain.warning).toBe('Cảnh báo')
  expect(vi.domain.sure('x.vn')).toMatch(/^Bạn có chắc chắn muốn xoá tên miền /)
  expect([en.domain.added, en.domain.addFailed]).toEqual([
    'Add domain success !',
    'Fail to add domain!',
  ])
  expect([en.domain.deleted, en.domain.deleteFailed]).toEqual([
    'Delete domain success !',
    'Fail to delete domain!',
  ])
  expect([en.domain.checked, en.domain.checkFailed]).toEqual([
    'Add domain success !',
    'The domain name is not pointing correctly',
  ])
  expect([en.record.failed, en.record.missing]).toEqual([
    'Fail to add record to domain !',
    'Please input info record !',
  ])
  expect(en.records.empty).toBe('Record Empty !')
  expect(vi.record.addTitle).toBe('Thêm bản ghi DNS')
  expect([vi.record.namePlaceholder, vi.record.save]).toEqual([
    'Dùng @ cho tên miền gốc',
    'Xác nhận lưu bản ghi',
  ])
  expect(en.record.labels).toEqual({
    A: 'IPV4',
    AAAA: 'IPV6',
    TXT: 'Content',
    MX: 'Mail Server',
    NS: 'Name Server',
    CNAME: 'Target',
  })
})

test('a day is written as the language writes it', () => {
  const written = { en, vi, 'en-AU': aud }
  for (const [locale, texts] of Object.entries(written)) {
    const format = new Intl.DateTimeFormat(locale, {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
    })
    for (let day = 1; day <= 366; day++) {
      const date = new Date(2028, 0, day)
      expect(texts.dashboard.today(date)).toBe(format.format(date))
    }
  }
})

const here = path.resolve(import.meta.dirname, '..')
const sources = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('i18n') && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(path.join(here, file), 'utf8'))
  .join('\n')

test('every text is used somewhere', () => {
  // A text counts as used if its full name is read, or its parent is indexed with a name known at
  // run time.
  const unused = paths(en).filter((key) => {
    const names = key.split('.')
    const [parent = '', leaf = ''] = names.slice(-2)
    const read = new RegExp(
      `\\.${leaf}\\b|\\b${parent}(\\[|\\)|,| \\}|\\s*$)|\\{[^}]*\\b${leaf}\\b[^}]*\\} = t\\b`,
      'm',
    )
    return !read.test(sources)
  })
  expect(unused).toEqual([])
})

/** Names, technical words and samples, which are the same in Vietnamese. */
const sameInBoth = [
  'nav.wordpress',
  'nav.hosting',
  'nav.database',
  'nav.firewall',
  'nav.dns',
  'nav.paas',
  'nav.svm',
  'shell.sandbox',
  'auth.email',
  'database.statement',
  'database.null',
  'topUp.methods.5',
  'records.ttl',
  'records.proxy',
  'domain.placeholder',
  'record.ttl',
  'record.labels.A',
  'record.labels.AAAA',
  'paas.row.status',
  'paas.row.environment',
  'paas.row.region',
  'project.placeholder',
  'service.repository',
  'php.title',
  'sftp.title',
  'domains.placeholder',
  'updates.kinds.core',
  'review.mail',
  'review.mariadb',
  'wp.mariadb',
  'hosting.listTitle',
  'site.mailTab',
  'site.vcpu',
  'site.ram',
]

test('nothing is left untranslated', () => {
  const textOf = (tree: Tree, key: string): unknown =>
    key.split('.').reduce<unknown>((at, name) => (at as Tree)[name], tree)
  const same = paths(en).filter((key) => {
    const text = textOf(en, key)
    return typeof text === 'string' && /[a-z]{3}/i.test(text) && text === textOf(vi, key)
  })
  expect(same).toEqual(sameInBoth)
})

test('the help names the days that the operator has set', () => {
  const unpaid = (docs: typeof enDocs, reminderDays: number[]): string => {
    const paragraphs = docs.docs.pages.invoice.sections.flatMap(({ text = [] }) => text)
    return paragraphs
      .flatMap((paragraph) =>
        typeof paragraph === 'function'
          ? [paragraph({ reminderDays, suspendDays: 9, deleteDays: 40 })]
          : [],
      )
      .join()
  }
  expect(unpaid(enDocs, [0, 3, 6])).toMatch(
    new RegExp(
      '^We remind you when it falls due and again after 3 and 6 days\\. ' +
        'After 9 days .* after 40 days it is deleted\\.',
    ),
  )
  expect([[0], [1], [0, 2, 4, 5]].map((days) => /^.*?\./.exec(unpaid(enDocs, days))?.[0])).toEqual([
    'We remind you when it falls due.',
    'We remind you after 1 day.',
    'We remind you when it falls due and again after 2, 4 and 5 days.',
  ])
  expect([[0, 3, 6], [0], [2]].map((days) => /^.*?\./.exec(unpaid(viDocs, days))?.[0])).toEqual([
    'Chúng tôi nhắc khi tới hạn, rồi sau 3 và 6 ngày.',
    'Chúng tôi nhắc khi tới hạn.',
    'Chúng tôi nhắc sau 2 ngày.',
  ])
})

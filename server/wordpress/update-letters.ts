/** Letters to the owner of a server about an update that did not go well. */
import type { Language } from '../../contract/errors.ts'
import type { PageDifference } from '../../contract/wordpress-updates.ts'
import type { UpdatePackage } from './update-store.ts'

const what: Record<PageDifference['what'], Record<Language, (of: PageDifference) => string>> = {
  status: {
    en: ({ path, before, after }) => `${path} answered ${after} instead of ${before}`,
    vi: ({ path, before, after }) => `${path} trả về mã ${after} thay vì ${before}`,
  },
  title: {
    en: ({ path }) => `the title of ${path} changed`,
    vi: ({ path }) => `tiêu đề của ${path} bị thay đổi`,
  },
  text: {
    en: ({ path }) => `most of the text of ${path} changed or was gone`,
    vi: ({ path }) => `phần lớn nội dung của ${path} bị thay đổi hoặc biến mất`,
  },
  unreachable: {
    en: ({ path }) => `${path} did not answer`,
    vi: ({ path }) => `${path} không phản hồi`,
  },
  sign_in: {
    en: () => 'signing in to wp-admin failed',
    vi: () => 'không đăng nhập được vào wp-admin',
  },
  database: {
    en: () => 'WordPress could not upgrade its database',
    vi: () => 'WordPress không nâng cấp được cơ sở dữ liệu',
  },
  package: {
    en: ({ path }) => `${path} could not be installed`,
    vi: ({ path }) => `không cài được ${path}`,
  },
}
const mostTold = 3

/** The differences in words, as part of one sentence. */
export const differencesText = (all: readonly PageDifference[], language: Language): string =>
  all
    .slice(0, mostTold)
    .map((one) => what[one.what][language](one))
    .join('; ')

export const packagesText = (packages: readonly UpdatePackage[]): string =>
  packages.map(({ name, from, to }) => `${name} ${from} → ${to}`).join(', ')

interface Told {
  readonly site: string
  readonly packages: readonly UpdatePackage[]
  readonly differences: readonly PageDifference[]
  readonly link: string
}

export const rolledBackLetter = {
  subject: {
    en: ({ site }: Told) => `${site}: an update was undone`,
    vi: ({ site }: Told) => `${site}: một bản cập nhật đã được hoàn tác`,
  },
  text: {
    en: ({ site, packages, differences, link }: Told) =>
      `We updated ${site} (${packagesText(packages)}) and undid it at once: ` +
      `${differencesText(differences, 'en')}. The site is exactly as it was before, files and ` +
      `database. You can see the details and try again at ${link}`,
    vi: ({ site, packages, differences, link }: Told) =>
      `Chúng tôi đã cập nhật ${site} (${packagesText(packages)}) và hoàn tác ngay sau đó: ` +
      `${differencesText(differences, 'vi')}. Trang web đã trở lại đúng như trước khi cập nhật, ` +
      `cả tệp và cơ sở dữ liệu. Xem chi tiết và thử lại tại ${link}`,
  },
} as const

export const notRolledBackLetter = {
  subject: {
    en: ({ site }: Told) => `${site}: an update failed`,
    vi: ({ site }: Told) => `${site}: cập nhật không thành công`,
  },
  text: {
    en: ({ site, packages, differences, link }: Told) =>
      `We updated ${site} (${packagesText(packages)}), and ` +
      `${differencesText(differences, 'en')}. ` +
      'Undoing the update failed as well; the backup from before it is kept. Our staff has been ' +
      `told. You can restore the backup yourself at ${link}`,
    vi: ({ site, packages, differences, link }: Told) =>
      `Chúng tôi đã cập nhật ${site} (${packagesText(packages)}), và ` +
      `${differencesText(differences, 'vi')}. Việc hoàn tác cũng không thành công; bản sao lưu ` +
      'trước khi cập nhật vẫn được giữ. Nhân viên của chúng tôi đã được báo. Bạn có thể tự khôi ' +
      `phục bản sao lưu tại ${link}`,
  },
} as const

/** For an update that was not undone because somebody may have written since its backup. */
export const notUndoneLetter = {
  subject: notRolledBackLetter.subject,
  text: {
    en: ({ site, packages, differences, link }: Told) =>
      `We updated ${site} (${packagesText(packages)}), and ` +
      `${differencesText(differences, 'en')}. ` +
      'We have not undone the update: the site may have been written to since the backup from ' +
      'before it, by customers who ordered or commented, and restoring the backup would remove ' +
      'that. The backup is kept, and our staff has been told. If the site needs it, you can ' +
      `restore the backup yourself at ${link}`,
    vi: ({ site, packages, differences, link }: Told) =>
      `Chúng tôi đã cập nhật ${site} (${packagesText(packages)}), và ` +
      `${differencesText(differences, 'vi')}. Chúng tôi chưa hoàn tác bản cập nhật này: từ sau ` +
      'bản sao lưu trước khi cập nhật, trang web có thể đã có dữ liệu mới như đơn hàng hay bình ' +
      'luận, và khôi phục bản sao lưu sẽ làm mất những dữ liệu đó. Bản sao lưu vẫn được giữ và ' +
      'nhân viên của chúng tôi đã được báo. Nếu cần, bạn có thể tự khôi phục bản sao lưu tại ' +
      link,
  },
} as const

/** Letters to a server's owner about keys that open its files. */
import type { Language } from '../../../contract/errors.ts'

interface Added {
  /** The key's name, given by its maker. */
  readonly key: string
  readonly fingerprint: string
  readonly server: string
  /** The network address that it was added from. */
  readonly from: string
  /** The server's page with the list of its keys. */
  readonly page: string
}

/**
 * Sent for a new key: the key outlives the session that added it, so an owner who did not add it
 * must know.
 */
export const letterOfKey = (of: Added, language: Language): { subject: string; text: string } =>
  language === 'vi'
    ? {
        subject: `Một khoá SFTP vừa được thêm vào máy chủ ${of.server}`,
        text:
          `Khoá “${of.key}” (${of.fingerprint}) vừa được thêm vào máy chủ ${of.server} từ địa ` +
          `chỉ mạng ${of.from}. Khoá này mở được mọi tệp của máy chủ qua SFTP.\n` +
          'Nếu đó là bạn, bạn không cần làm gì.\n' +
          'Nếu không phải bạn, hãy gỡ khoá ở trang này rồi đổi mật khẩu:\n' +
          of.page,
      }
    : {
        subject: `An SFTP key was added to the server ${of.server}`,
        text:
          `The key “${of.key}” (${of.fingerprint}) was added to the server ${of.server} from ` +
          `network address ${of.from}. It opens every file of the server by SFTP.\n` +
          'If it was you, there is nothing to do.\n' +
          'If it was not you, remove the key on this page, then change your password:\n' +
          of.page,
      }

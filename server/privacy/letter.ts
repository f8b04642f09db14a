import type { Language } from '../../contract/errors.ts'

/** Somebody has downloaded the customer's data: whoever did not is told what to do. */
export const exportLetter = (
  of: { readonly from: string; readonly portalUrl: string },
  language: Language,
): { readonly subject: string; readonly text: string } =>
  language === 'vi'
    ? {
        subject: 'Dữ liệu của bạn vừa được tải xuống',
        text:
          `Toàn bộ dữ liệu của tài khoản vừa được tải xuống từ địa chỉ mạng ${of.from}.\n` +
          'Nếu đó là bạn, bạn không cần làm gì.\n' +
          'Nếu không phải bạn, hãy đổi mật khẩu và kết thúc các phiên khác ở trang này:\n' +
          `${of.portalUrl}/account`,
      }
    : {
        subject: 'Your data was downloaded',
        text:
          `All data of your account was downloaded from network address ${of.from}.\n` +
          'If it was you, there is nothing to do.\n' +
          'If it was not you, change your password and end the other sessions on this page:\n' +
          `${of.portalUrl}/account`,
      }

/** The last letter to somebody who has closed the account. */
export const closedLetter = (
  language: Language,
): { readonly subject: string; readonly text: string } =>
  language === 'vi'
    ? {
        subject: 'Tài khoản của bạn đã được đóng',
        text:
          'Tài khoản của bạn đã được đóng theo yêu cầu. Thông tin cá nhân đã được xoá. Hoá đơn, ' +
          'bút toán cùng tên máy chủ, tên miền ghi trên đó được lưu theo quy định của pháp ' +
          'luật.\nNếu bạn không yêu cầu việc này, hãy liên hệ ngay với chúng tôi.',
      }
    : {
        subject: 'Your account was closed',
        text:
          'Your account was closed as you asked. Personal data was erased. Invoices and ' +
          'postings are kept as the law asks, and the names of the servers and domains on ' +
          'them.\nIf you did not ask for this, contact us at once.',
      }

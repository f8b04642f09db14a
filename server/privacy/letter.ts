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

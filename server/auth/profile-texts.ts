/** Texts of letters and messages about changes of an account. */

export const texts = {
  passwordChanged: {
    en: {
      subject: 'Your password was changed',
      text:
        'The password of your account was just changed, and every other session was signed ' +
        'out.\nIf it was not you, recover your account at once with “Forgot password” and ' +
        'contact support.',
    },
    vi: {
      subject: 'Mật khẩu của bạn đã được thay đổi',
      text:
        'Mật khẩu tài khoản của bạn vừa được thay đổi và mọi phiên đăng nhập khác đã kết ' +
        'thúc.\nNếu không phải bạn thực hiện, hãy lấy lại tài khoản ngay bằng “Quên mật khẩu” ' +
        'và liên hệ bộ phận hỗ trợ.',
    },
  },
  emailCode: {
    en: {
      subject: 'Confirm your new email address',
      text: (code: string) =>
        `Your code is ${code}. Enter it on the account page to use this address.\nIt ` +
        'expires in 10 minutes. If you did not ask for it, you can ignore this message.',
    },
    vi: {
      subject: 'Xác nhận địa chỉ email mới',
      text: (code: string) =>
        `Mã của bạn là ${code}. Hãy nhập mã ở trang tài khoản để dùng địa chỉ này.\nMã có ` +
        'hiệu lực trong 10 phút. Nếu bạn không yêu cầu, hãy bỏ qua thư này.',
    },
  },
  emailProof: {
    en: {
      subject: 'Confirm your email address',
      text: (code: string) =>
        `Your code is ${code}. Enter it on the account page to confirm this address.\nIt ` +
        'expires in 10 minutes. If you did not ask for it, somebody registered with your ' +
        'address: do not pass the code on.',
    },
    vi: {
      subject: 'Xác nhận địa chỉ email',
      text: (code: string) =>
        `Mã của bạn là ${code}. Hãy nhập mã ở trang tài khoản để xác nhận địa chỉ này.\nMã có ` +
        'hiệu lực trong 10 phút. Nếu bạn không yêu cầu, ai đó đã đăng ký bằng địa chỉ của bạn: ' +
        'đừng chuyển mã cho người khác.',
    },
  },
  emailChanged: {
    en: {
      subject: 'The email address of your account was changed',
      text: (email: string) =>
        `Your account now uses ${email}, and no longer this address.\nIf it was not you, ` +
        'contact support at once.',
    },
    vi: {
      subject: 'Email của tài khoản đã được thay đổi',
      text: (email: string) =>
        `Tài khoản của bạn nay dùng ${email}, không còn dùng địa chỉ này.\nNếu không phải bạn ` +
        'thực hiện, hãy liên hệ bộ phận hỗ trợ ngay.',
    },
  },
  phoneCode: {
    en: (sender: string, code: string) =>
      `${sender}${code} is the code for your new number. Expires in 10 min. Don't share it.`,
    // Without accents, it fits one SMS of the GSM alphabet.
    vi: (sender: string, code: string) =>
      `${sender}Ma OTP cho so moi ${code}, hieu luc 10 phut. Khong chia se.`,
  },
  phoneChanged: {
    en: {
      subject: 'The phone number of your account was changed',
      text: (phone: string) =>
        `Your account now uses the phone number ${phone}.\nIf it was not you, contact support ` +
        'at once.',
    },
    vi: {
      subject: 'Số điện thoại của tài khoản đã được thay đổi',
      text: (phone: string) =>
        `Tài khoản của bạn nay dùng số điện thoại ${phone}.\nNếu không phải bạn thực hiện, ` +
        'hãy liên hệ bộ phận hỗ trợ ngay.',
    },
  },
} as const

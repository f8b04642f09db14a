/** The letter to a customer who was brought over. It holds no secret: its link asks for a code. */
import type { Language } from '../../contract/errors.ts'

interface Letter {
  readonly subject: string
  readonly text: string
}
interface Moved {
  readonly brandName: string
  readonly email: string
  readonly link: string
  readonly hadBalance: boolean
}

export const moved: Readonly<Record<Language, (of: Moved) => Letter>> = {
  en: ({ brandName, email, link, hadBalance }) => ({
    subject: `Your account at ${brandName} has moved: choose a password`,
    text:
      `${brandName} has a new customer portal. Your account for ${email} is there already` +
      `${hadBalance ? ', and your balance has come with it' : ''}. ` +
      'The password of the old portal is not known here.\n' +
      'Open this link to choose a new password:\n' +
      `${link}\n` +
      'There we send a code to this address, which is good for ten minutes. If it has expired, ' +
      'ask for another one on the same page at any time.\n' +
      `Until you have chosen a password, nobody can sign in to your account at ${brandName}.`,
  }),
  vi: ({ brandName, email, link, hadBalance }) => ({
    subject: `Tài khoản của bạn tại ${brandName} đã được chuyển: hãy đặt mật khẩu`,
    text:
      `${brandName} có cổng khách hàng mới. Tài khoản ${email} của bạn đã có sẵn tại đó` +
      `${hadBalance ? ', số dư cũng được chuyển sang' : ''}. ` +
      'Mật khẩu ở cổng cũ không dùng được nữa.\n' +
      'Hãy mở liên kết này để đặt mật khẩu mới:\n' +
      `${link}\n` +
      'Tại đó chúng tôi gửi đến địa chỉ này một mã có hiệu lực 10 phút. Nếu mã hết hạn, bạn có ' +
      'thể yêu cầu mã khác trên cùng trang bất cứ lúc nào.\n' +
      `Khi bạn chưa đặt mật khẩu, không ai đăng nhập được vào tài khoản của bạn tại ${brandName}.`,
  }),
}

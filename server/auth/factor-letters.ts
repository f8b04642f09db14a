/**
 * Letters about a second factor that was added or removed. A thief who adds a factor locks the
 * owner out, so the owner is told, with a link to say that it was not them. A passkey's name is
 * free text and could mislead: no letter contains it.
 */
import type { Language } from '../../contract/errors.ts'
import type { Tx } from '../platform/db.ts'
import { languageOfCustomer, type LanguageFields } from './language.ts'
import type { AuthNeeds } from './needs.ts'
import { denialLink } from './sign-in-letter.ts'

const texts = {
  en: {
    appAdded: {
      subject: 'An authenticator app was added to your account',
      text: 'An authenticator app was just added to your account. Signing in asks for its codes.',
    },
    appRemoved: {
      subject: 'The authenticator app of your account was removed',
      text: 'The authenticator app was just removed from your account. Its codes no longer count.',
    },
    passkeyAdded: {
      subject: 'A passkey was added to your account',
      text: 'A passkey was just added to your account. It signs in without the password.',
    },
    passkeyRemoved: {
      subject: 'A passkey of your account was removed',
      text: 'A passkey was just removed from your account. It signs in no longer.',
    },
    deny: (link: string) =>
      '\nIf it was you, there is nothing to do.\nIf it was not you, open this link within seven ' +
      'days. It signs out every device, removes what was added since, and lets you choose a new ' +
      `password:\n${link}`,
  },
  vi: {
    appAdded: {
      subject: 'Ứng dụng xác thực đã được thêm vào tài khoản của bạn',
      text:
        'Một ứng dụng xác thực vừa được thêm vào tài khoản của bạn. Từ nay đăng nhập cần mã của ' +
        'ứng dụng này.',
    },
    appRemoved: {
      subject: 'Ứng dụng xác thực đã được gỡ khỏi tài khoản của bạn',
      text: 'Ứng dụng xác thực vừa được gỡ khỏi tài khoản của bạn. Mã của nó không còn hiệu lực.',
    },
    passkeyAdded: {
      subject: 'Khoá truy cập đã được thêm vào tài khoản của bạn',
      text:
        'Một khoá truy cập vừa được thêm vào tài khoản của bạn. Khoá này đăng nhập được mà không ' +
        'cần mật khẩu.',
    },
    passkeyRemoved: {
      subject: 'Khoá truy cập đã được gỡ khỏi tài khoản của bạn',
      text: 'Một khoá truy cập vừa được gỡ khỏi tài khoản của bạn và không đăng nhập được nữa.',
    },
    deny: (link: string) =>
      '\nNếu đó là bạn, bạn không cần làm gì.\nNếu không phải bạn, hãy mở liên kết này trong ' +
      'vòng bảy ngày. Mọi thiết bị sẽ bị đăng xuất, những gì được thêm từ lúc đó sẽ bị gỡ và bạn ' +
      `có thể đặt mật khẩu mới:\n${link}`,
  },
} as const

export type FactorNews = Exclude<keyof (typeof texts)['en'], 'deny'>

/** Tells the owner. `since`: the link undoes what happened from then on. */
export async function tellOfFactor(
  tx: Tx,
  needs: AuthNeeds,
  customerId: string,
  { news, since }: { readonly news: FactorNews; readonly since: Date },
): Promise<void> {
  const { link, email, language } = await denialLink(tx, needs, customerId, since)
  const { subject, text } = texts[language][news]
  await needs.sendMail(tx, email, subject, `${text}${texts[language].deny(link)}`)
}

/** The factors that a password reset has ended. */
export interface EndedFactors {
  readonly app: boolean
  readonly passkeys: number
}
interface Reset extends EndedFactors {
  /** The page that shows and removes factors. */
  readonly page: string
}
const reset: Record<Language, { subject: string; text: (of: Reset) => string }> = {
  en: {
    subject: 'Your password was reset',
    text: ({ app, passkeys, page }) =>
      'The password of your account was reset with “Forgot password”, and every device was ' +
      'signed out.\n' +
      (app || passkeys > 0
        ? 'Whoever knew the old password may have added a second factor of their own, so what ' +
          'was added within the seven days before was removed: ' +
          [
            ...(app ? ['the authenticator app'] : []),
            ...(passkeys > 0 ? [passkeys === 1 ? 'one passkey' : `${passkeys} passkeys`] : []),
          ].join(', ') +
          '. If it was yours, add it again under Account, Security.\n'
        : '') +
      'An older authenticator app and older passkeys stay, and so do tokens, SFTP keys and ' +
      'members of your team, new ones too. If you find any that you do not know, remove it. ' +
      'Your account:\n' +
      page,
  },
  vi: {
    subject: 'Mật khẩu của bạn đã được đặt lại',
    text: ({ app, passkeys, page }) =>
      'Mật khẩu tài khoản của bạn vừa được đặt lại bằng “Quên mật khẩu” và mọi thiết bị đã bị ' +
      'đăng xuất.\n' +
      (app || passkeys > 0
        ? 'Người biết mật khẩu cũ có thể đã thêm lớp xác thực của họ, nên những gì được thêm ' +
          'trong bảy ngày trước đó đã bị gỡ: ' +
          [
            ...(app ? ['ứng dụng xác thực'] : []),
            ...(passkeys > 0 ? [`${passkeys} khoá truy cập`] : []),
          ].join(', ') +
          '. Nếu đó là của bạn, hãy thêm lại trong mục Tài khoản, Bảo mật.\n'
        : '') +
      'Ứng dụng xác thực và khoá truy cập cũ hơn vẫn còn hiệu lực; token, khoá SFTP và thành ' +
      'viên cũng vậy, kể cả những mục mới thêm. Nếu thấy mục nào không phải của bạn, hãy gỡ bỏ. ' +
      'Trang tài khoản của bạn:\n' +
      page,
  },
}

/** Tells the owner that the password was reset, what ended, and what stays. */
export async function tellOfReset(
  tx: Tx,
  needs: AuthNeeds,
  customer: LanguageFields & { readonly email: string },
  ended: EndedFactors,
): Promise<void> {
  const { subject, text } = reset[languageOfCustomer(customer, needs.languageOf)]
  const page = `${needs.portalUrl}/account`
  await needs.sendMail(tx, customer.email, subject, text({ ...ended, page }))
}

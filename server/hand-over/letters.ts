/** Letters to both sides of a hand-over. */
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { Language } from '../../contract/errors.ts'
import { offerDays } from '../../contract/hand-over.ts'
import type { Kind } from './offers.ts'

interface Letter {
  readonly subject: string
  readonly text: string
}
const kinds: Readonly<Record<Language, Readonly<Record<Kind, string>>>> = {
  en: { server: 'server', domain: 'domain' },
  vi: { server: 'máy chủ', domain: 'tên miền' },
}
/** A server's price for its new owner. */
export interface Costs {
  /** Minor units a month. */
  readonly price: bigint
  readonly currency: Currency
  /** The day of the renewal in the reader's time zone, 2026-12-31. */
  readonly day: string
}
/** The sentence about the price. */
const money = (costs: Costs | null, language: Language): string => {
  if (costs === null) return ''
  const price = formatMoney(Number(costs.price), costs.currency, language)
  const { day } = costs
  return language === 'vi'
    ? `Từ ngày ${day} máy chủ được gia hạn với giá ${price} mỗi tháng bằng ví của người nhận.\n`
    : `From ${day} on it renews at ${price} a month from the wallet of whoever takes it.\n`
}

interface Offered {
  /** Free of what could pass for a link. */
  readonly from: string
  readonly brandName: string
  readonly kind: Kind
  readonly name: string
  readonly link: string
}
const offered: Readonly<Record<Language, (of: Offered) => Letter>> = {
  en: ({ from, brandName, kind, name, link }) => ({
    subject: `A ${kinds.en[kind]} is offered to you at ${brandName}`,
    text:
      `“${from}” wants to hand the ${kinds.en[kind]} “${name}” over to you at ${brandName}.\n` +
      'Open this link to read what it costs and to accept. If you have no account under this ' +
      'e-mail address yet, register first, then open the link again:\n' +
      `${link}\n` +
      `The link is good for ${offerDays} days. If you do not want it, do nothing.`,
  }),
  vi: ({ from, brandName, kind, name, link }) => ({
    subject: `Bạn được chuyển giao một ${kinds.vi[kind]} tại ${brandName}`,
    text:
      `“${from}” muốn chuyển giao ${kinds.vi[kind]} “${name}” cho bạn tại ${brandName}.\n` +
      'Hãy mở liên kết này để xem chi phí và chấp nhận. Nếu chưa có tài khoản với địa chỉ email ' +
      'này, hãy đăng ký trước rồi mở lại liên kết:\n' +
      `${link}\n` +
      `Liên kết có hiệu lực ${offerDays} ngày. Nếu bạn không muốn nhận, bạn không cần làm gì.`,
  }),
}

/** The recipient's language is unknown: the letter has both. */
export function letterOfOffer(of: Offered, language: Language): Letter {
  const [first, second] = [offered[language](of), offered[language === 'vi' ? 'en' : 'vi'](of)]
  return { subject: first.subject, text: `${first.text}\n\n---\n\n${second.text}` }
}

/** To the owner: something was offered, so that nobody else does it unnoticed. */
export const letterOfOffering = (
  of: Pick<Offered, 'kind' | 'name'> & { readonly email: string; readonly portalUrl: string },
  language: Language,
): Letter =>
  language === 'vi'
    ? {
        subject: `${kinds.vi[of.kind]} “${of.name}” của bạn đang được chuyển giao`.replace(
          /^./u,
          (first) => first.toUpperCase(),
        ),
        text:
          `${of.email} được mời nhận ${kinds.vi[of.kind]} “${of.name}” của bạn.\n` +
          'Nếu không phải bạn chuyển giao, hãy rút lại ở trang này và đổi mật khẩu:\n' +
          `${of.portalUrl}/account/team`,
      }
    : {
        subject: `Your ${kinds.en[of.kind]} “${of.name}” is offered to somebody`,
        text:
          `The ${kinds.en[of.kind]} “${of.name}” is offered to ${of.email}.\n` +
          'If it was not you who offered it, take the offer back on this page and change your ' +
          `password:\n${of.portalUrl}/account/team`,
      }

interface Given {
  readonly kind: Kind
  readonly name: string
  readonly costs: Costs | null
}

/** To the former owner. */
export const letterOfGiven = (
  { kind, name, costs, email }: Given & { readonly email: string },
  language: Language,
): Letter =>
  language === 'vi'
    ? {
        subject: `Đã chuyển giao ${kinds.vi[kind]} “${name}”`,
        text:
          `${email} đã nhận ${kinds.vi[kind]} “${name}”. Bạn không còn quyền truy cập.\n` +
          money(costs, language),
      }
    : {
        subject: `Handed over: “${name}”`,
        text:
          `${email} has taken over the ${kinds.en[kind]} “${name}”. You have no access to it any ` +
          `more.\n${money(costs, language)}`,
      }

/** To the new owner: what to do next. */
export const letterOfTaken = ({ kind, name, costs }: Given, language: Language): Letter => {
  const passwords =
    language === 'vi'
      ? 'Người chủ cũ có thể vẫn biết mật khẩu WordPress: hãy đổi mật khẩu và xem lại danh sách ' +
        'người dùng.\n'
      : 'The former owner may still know passwords of WordPress: change them, and look through ' +
        'its users.\n'
  return language === 'vi'
    ? {
        subject: `Bạn đã nhận ${kinds.vi[kind]} “${name}”`,
        text:
          `${kinds.vi[kind] === 'máy chủ' ? 'Máy chủ' : 'Tên miền'} “${name}” nay thuộc về bạn.\n` +
          money(costs, language) +
          (kind === 'server' ? passwords : ''),
      }
    : {
        subject: `The ${kinds.en[kind]} “${name}” is yours`,
        text:
          `The ${kinds.en[kind]} “${name}” is yours from now on.\n` +
          money(costs, language) +
          (kind === 'server' ? passwords : ''),
      }
}

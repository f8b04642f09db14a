import type { DataRequest, RequestKind } from '../../contract/data-requests.ts'
import type { Language } from '../../contract/errors.ts'
import { inVietnam } from '../platform/vietnam-time.ts'

/**
 * Somebody has downloaded the customer's data; if it was not the customer, the letter says what to
 * do.
 */
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

/** The last letter to a customer who has closed the account. */
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

type Letter = { readonly subject: string; readonly text: string }

const asked: Readonly<Record<RequestKind, Readonly<Record<'en' | 'vi', string>>>> = {
  access: { en: 'to see your data', vi: 'xem dữ liệu' },
  correction: { en: 'to correct your data', vi: 'chỉnh sửa dữ liệu' },
  objection: { en: 'not to use your data', vi: 'phản đối việc xử lý dữ liệu' },
  erasure: { en: 'to erase your data', vi: 'xoá dữ liệu' },
}
/** The day in Vietnam, by which the clock of a request goes. */
const dayOf = (time: string, language: Language): string => {
  const [year, month, day] = inVietnam(new Date(time)).slice(0, 10).split('-')
  return language === 'vi' ? `${day}/${month}/${year}` : `${year}-${month}-${day}`
}

/** A request was received; says by when it is answered. */
export function receivedLetter({ kind, dueAt, text }: DataRequest, language: Language): Letter {
  const due = dayOf(dueAt, language)
  return language === 'vi'
    ? {
        subject: 'Chúng tôi đã nhận yêu cầu về dữ liệu của bạn',
        text:
          `Chúng tôi đã nhận yêu cầu ${asked[kind].vi} của bạn và sẽ trả lời chậm nhất ngày ` +
          `${due}.\n\nNội dung yêu cầu:\n${text}`,
      }
    : {
        subject: 'We received your request about your data',
        text:
          `We received your request ${asked[kind].en}, and answer it by ${due}.\n\n` +
          `What you asked:\n${text}`,
      }
}

/** A request was met, or refused. */
export function decidedLetter(
  { kind }: Pick<DataRequest, 'kind'>,
  state: 'done' | 'refused',
  answer: string,
  language: Language,
): Letter {
  const isDone = state === 'done'
  return language === 'vi'
    ? {
        subject: isDone
          ? 'Yêu cầu về dữ liệu của bạn đã được giải quyết'
          : 'Yêu cầu về dữ liệu của bạn bị từ chối',
        text: isDone
          ? `Yêu cầu ${asked[kind].vi} của bạn đã được giải quyết.\n\n${answer}`
          : `Chúng tôi không thể thực hiện yêu cầu ${asked[kind].vi} của bạn.\n\n` +
            `Lý do:\n${answer}\n\n` +
            'Nếu không đồng ý, bạn có thể liên hệ lại với chúng tôi hoặc khiếu nại đến cơ quan ' +
            'bảo vệ dữ liệu cá nhân.',
      }
    : {
        subject: isDone
          ? 'Your request about your data was met'
          : 'Your request about your data was refused',
        text: isDone
          ? `Your request ${asked[kind].en} was met.\n\n${answer}`
          : `We cannot meet your request ${asked[kind].en}.\n\nReason:\n${answer}\n\n` +
            'If you disagree, write to us, or complain to the authority for the protection of ' +
            'personal data.',
      }
}

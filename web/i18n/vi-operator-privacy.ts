import type { enDeskPrivacy, enPrivacyActs } from './en-operator-privacy.ts'

export const viPrivacyActs: typeof enPrivacyActs = {
  names: {
    'privacy.receive': 'Nhập yêu cầu',
    'privacy.done': 'Ghi nhận đã thực hiện',
    'privacy.refuse': 'Từ chối yêu cầu',
  },
  explain: {
    'privacy.receive':
      'Thời hạn tính từ ngày nhận yêu cầu. Khách hàng nhận email cho biết hạn trả lời; nếu là ' +
      'người khác, hãy tự viết thư cho họ.',
    'privacy.done':
      'Khách hàng nhận email có nội dung này. Nếu là người khác, hãy tự viết thư cho họ.',
    'privacy.refuse':
      'Khách hàng nhận email có nội dung này. Nếu là người khác, hãy tự viết thư cho họ.',
  },
  fields: {
    from: 'Người yêu cầu',
    fromHint: 'Email đã xác nhận của khách hàng, mã khách hàng mà bạn đã xác minh, hoặc họ tên.',
    asked: 'Nội dung yêu cầu',
    receivedOn: 'Ngày nhận',
    receivedOnHint: 'Để trống: hôm nay.',
    toldWhy: 'Đã làm gì, hoặc vì sao từ chối',
  },
}

export const viDeskPrivacy: typeof enDeskPrivacy = {
  nav: 'Yêu cầu về dữ liệu',
  title: 'Yêu cầu về dữ liệu cá nhân',
  sub: 'Đến hạn trước xếp trước. Hạn tính theo ngày làm việc tại Việt Nam và không quá 30 ngày.',
  show: 'Hiển thị',
  shows: { open: 'Chưa giải quyết', decided: 'Đã giải quyết' },
  empty: {
    open: 'Không có yêu cầu nào đang chờ.',
    decided: 'Chưa có yêu cầu nào được giải quyết.',
  },
  kinds: {
    access: 'Xem dữ liệu',
    correction: 'Chỉnh sửa',
    objection: 'Phản đối xử lý',
    erasure: 'Xoá dữ liệu',
  },
  states: {
    open: 'Chưa giải quyết',
    done: 'Đã thực hiện',
    refused: 'Đã từ chối',
    ended: 'Kết thúc do đóng tài khoản',
  },
  overdue: 'Quá hạn',
  late: 'Trả lời trễ',
  due: (day) => `Hạn ${day}`,
  came: (day) => `nhận ${day}`,
  enteredBy: (name) => `${name} nhập`,
  closing: 'khi đóng tài khoản',
  decided: (when, by) => `${when}, ${by}`,
}

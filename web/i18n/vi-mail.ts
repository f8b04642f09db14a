import type { enMail } from './en-mail.ts'

export const viMail: typeof enMail = {
  mail: {
    title: 'Email gửi từ máy chủ này',
    enabled: 'Cho phép trang web gửi email',
    hint:
      'Đơn hàng, biểu mẫu liên hệ và thư đặt lại mật khẩu được gửi qua máy chủ thư của chúng ' +
      'tôi. Khi tắt, WordPress được báo ngay rằng thư không được gửi.',
    on: 'Đã bật gửi email.',
    off: 'Đã tắt gửi email. Các thư đang chờ sẽ không được gửi.',
    failed: 'Thay đổi thiết lập email thất bại !',
    suspended: 'Tạm ngưng gửi email',
    causes: {
      bounces:
        'Nhiều thư gần đây bị từ chối vì địa chỉ người nhận không tồn tại hoặc không muốn nhận ' +
        'thư.',
      complaint: 'Có người nhận đã khiếu nại về thư của trang web này.',
      operator: 'Chúng tôi đã tạm ngưng gửi email.',
    },
    toDo:
      'Trang web vẫn hoạt động và các thư đang chờ vẫn được giữ lại. Hãy tìm biểu mẫu hoặc ' +
      'plugin gửi các thư này, sửa lại, rồi gửi yêu cầu hỗ trợ để được gửi tiếp.',
    hour: 'Đã gửi trong giờ qua',
    ofLimit: (used, limit) => `${used} / ${limit}`,
    limitHint: 'Mỗi người nhận tính là một thư. Thư vượt hạn mức sẽ chờ và được gửi sau.',
    waiting: 'Đang chờ',
    sender: 'Người gửi',
    senderLabel: 'Phần trước @',
    domainLabel: 'Tên miền của người gửi',
    senderHint:
      'Dùng cho thư không mang địa chỉ nào của máy chủ này. Địa chỉ gốc của thư trở thành địa ' +
      'chỉ nhận trả lời.',
    save: 'Lưu người gửi',
    saved: (address) => `Từ nay thư được gửi từ ${address}.`,
    recordsTitle: 'Bản ghi DNS',
    recordsAbout:
      'Nhờ các bản ghi này, hộp thư người nhận tin tưởng thư từ tên miền của bạn. Nếu thiếu, thư ' +
      'dễ bị xếp vào thư rác.',
    noDomain:
      'Máy chủ này chưa có tên miền riêng: thư được gửi từ địa chỉ do chúng tôi cấp, đã thiết ' +
      'lập sẵn. Hãy thêm tên miền trong thẻ Tên miền để gửi từ tên miền đó.',
    add: 'Thêm vào DNS',
    adding: (domain) => `Thêm vào DNS: bản ghi còn thiếu của ${domain}`,
    added: (domain) => `Các bản ghi của ${domain} đã sẵn sàng.`,
    here: 'DNS của tên miền này do chúng tôi quản lý, bạn có thể thêm bản ghi chỉ với một lần bấm.',
    elsewhere:
      'DNS của tên miền này được quản lý ở nơi khác. Hãy sao chép các bản ghi và thêm tại đó.',
    ready: 'Đã có đủ bản ghi',
    check: 'Kiểm tra lại',
    kinds: {
      spf: 'SPF: máy chủ được phép gửi',
      dkim: 'DKIM: chữ ký',
      dmarc: 'DMARC: chính sách',
    },
    states: {
      found: 'Đã có',
      missing: 'Còn thiếu',
      differs: 'Chưa đúng',
      alias: 'Không cần',
      unknown: 'Chưa tra được',
    },
    aliasHint: 'Tên này là bí danh (CNAME) nên không chứa được SPF. Chữ ký là đủ.',
    differsHint: (found) => `Hiện tại: ${found}`,
    recordName: 'Tên',
    recordValue: 'Giá trị',
    logTitle: 'Thư trong 30 ngày qua',
    logEmpty: 'Trang web này chưa gửi email nào.',
    more: 'Xem thêm',
    noSubject: '(không có tiêu đề)',
    from: (address) => `Từ ${address}`,
    insteadOf: (address) => `Gửi từ người gửi của máy chủ, thay cho ${address}`,
    mailStates: {
      waiting: 'Đang chờ',
      held: 'Tạm giữ',
      sent: 'Đã gửi',
      bounced: 'Bị từ chối',
      failed: 'Đã bỏ',
      refused: 'Không gửi',
    },
    reasons: {
      hour_limit: 'Đã hết hạn mức trong giờ này.',
      suspended: 'Đang tạm ngưng gửi email.',
      off: 'Gửi email đang tắt.',
      header_unreadable: 'Không đọc được phần đầu của thư.',
      line_too_long: 'Thư có dòng dài hơn mức các máy chủ thư chấp nhận.',
      address: 'Địa chỉ này không nhận được email.',
      text_gone: 'Nội dung thư không còn được lưu.',
      sender_lost: 'Người gửi thuộc tên miền không còn của máy chủ này.',
      trouble: 'Máy chủ thư của chúng tôi chưa nhận được thư.',
      recipient_returned:
        'Một thư gửi đến địa chỉ này đã bị trả lại, nên tạm thời không gửi thư đến đây.',
    },
    returned: (time) => `Đã gửi nhưng bị trả lại lúc ${time}.`,
    allow: 'Cho gửi lại',
    allowing: (address) => `Cho gửi lại thư đến ${address}`,
    allowed: (address) => `Từ nay lại gửi thư đến ${address}.`,
    alreadyAllowed: 'Thư đến địa chỉ này vẫn đang được gửi.',
    said: (text) => `Máy chủ thư trả lời: ${text}`,
    next: (time) => `Gửi lại lúc ${time}`,
    tries: (count) => `${count} lần thử`,
  },
}

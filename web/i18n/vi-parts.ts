/** Vietnamese: the parts of one server's page that come when they are opened. */
import type { enParts } from './en-parts.ts'

export const viParts: typeof enParts = {
  subscription: {
    title: 'Gói dịch vụ',
    statuses: {
      pending: 'Chờ thanh toán lần đầu',
      active: 'Đang hoạt động',
      past_due: 'Quá hạn thanh toán',
      suspended: 'Tạm ngưng',
      ended: 'Đã kết thúc',
    },
    renews: 'Gia hạn ngày',
    ends: 'Kết thúc ngày',
    paidUntil: 'Đã trả đến',
    price: 'Giá mỗi tháng',
    renewalPrice: 'Giá khi gia hạn',
    priceRise: (price, date) => `Giá mới từ kỳ gia hạn ${date}: ${price} mỗi tháng.`,
    planned: 'Thay đổi đã đặt sẽ áp dụng khi gia hạn.',
    overdue: (invoice, amount) => `Hoá đơn ${invoice} chưa được thanh toán: còn ${amount}.`,
    suspendsOn: (date) => `Máy chủ sẽ bị tạm ngưng ngày ${date}; dữ liệu vẫn được giữ.`,
    deletesOn: (date) => `Máy chủ và dữ liệu sẽ bị xoá ngày ${date}.`,
    backByItself: 'Hãy nạp ví, hoá đơn này sẽ được thanh toán tự động.',
    pay: 'Thanh toán hoá đơn',
    cancel: 'Huỷ gói dịch vụ',
    cancelTitle: 'Huỷ gói dịch vụ này?',
    cancelText: (name) =>
      `Chọn thời điểm kết thúc ${name}. Khi kết thúc, trang web, tệp và cơ sở dữ liệu sẽ bị ` +
      'xoá vĩnh viễn.',
    atEnd: (date) => `Khi hết kỳ đã trả (${date})`,
    atEndHint: 'Máy chủ vẫn chạy đến lúc đó. Bạn có thể tiếp tục gói trước ngày này.',
    now: 'Ngay bây giờ',
    nowHint: (amount) => `Máy chủ bị xoá ngay. Hoàn ${amount} (thời gian chưa dùng) vào ví.`,
    nowNothing: 'Máy chủ bị xoá ngay. Bạn không còn nợ khoản nào.',
    confirmEnd: 'Huỷ khi hết kỳ',
    confirmNow: 'Xoá ngay',
    keep: 'Giữ lại',
    willEnd: (date) => `Đã huỷ: máy chủ này sẽ bị xoá ngày ${date}.`,
    resume: 'Tiếp tục gói dịch vụ',
    cancelled: (date) => `Gói dịch vụ sẽ kết thúc ngày ${date}.`,
    gone: 'Gói dịch vụ đã kết thúc.',
    resumed: 'Đã tiếp tục gói dịch vụ.',
  },
  resize: {
    ssdTitle: 'Ổ đĩa SSD',
    mariadbTitle: 'Ổ đĩa MariaDB',
    size: 'Dung lượng hiện tại',
    kind: 'Loại',
    included: 'Đã bao gồm',
    upgrade: 'Nâng cấp',
    addDisk: 'Thêm ổ đĩa',
    upgradeTitle: 'Nâng cấp ổ đĩa SSD',
    addDiskTitle: 'Thêm ổ đĩa MariaDB',
    newSize: 'Dung lượng mới, GB',
    atLeast: (gb) => `Số GB nguyên, lớn hơn ${gb}. Không thể giảm dung lượng ổ đĩa.`,
    tooLarge: (gb) => `Tối đa ${gb} GB.`,
    before: 'Hiện tại',
    after: 'Sau khi đổi',
    now: (until) => `Thanh toán ngay (đến ${until})`,
    about: (amount) => `khoảng ${amount}`,
    confirm: 'Nâng cấp',
    diskDone: 'Cập nhật ổ đĩa thành công !',
    diskFailed: 'Cập nhật ổ đĩa thất bại !',
    sizeDone: 'Cập nhật cấu hình thành công !',
    sizeFailed: 'Cập nhật cấu hình thất bại !',
    largest: 'Ổ đĩa đã đạt dung lượng lớn nhất.',
    closed: 'Bạn có thể thay đổi khi máy chủ đang chạy.',
    plans: 'Các gói cấu hình',
    plan: 'Gói',
    perMonth: 'Giá mỗi tháng',
    current: 'Đang có',
    keep: 'Giữ gói này',
    buy: 'Mua',
    buyOf: (plan) => `Mua ${plan}`,
    planned: 'Từ kỳ gia hạn',
    plannedNote: (plan, count, when) => `Từ kỳ gia hạn ${when}: ${plan}, ${count} container.`,
    planTitle: (plan) => `Chuyển sang ${plan}?`,
    planUp: 'Nâng gói có hiệu lực ngay, không gián đoạn.',
    planDown: (when) => `Hạ gói có hiệu lực từ kỳ gia hạn ${when}.`,
    total: 'Máy chủ mỗi tháng',
    containers: 'Số container',
    containersHint: (max) => `Từ 1 đến ${max}. Tăng có hiệu lực ngay, giảm từ kỳ gia hạn.`,
    apply: 'Áp dụng',
    name: 'Tên máy chủ',
    nameHint: (domain) => `Địa chỉ mới: ${domain}. Mười địa chỉ gần nhất vẫn hoạt động.`,
    rename: 'Đổi tên',
    renamed: 'Đã đổi tên máy chủ.',
  },
  domains: {
    primary: 'Tên miền chính',
    primaryHint: 'Luôn hoạt động và không thể gỡ.',
    extra: 'Tên miền của bạn',
    none: 'Chưa có tên miền riêng. Hãy thêm tên miền để khách truy cập trang của bạn.',
    add: 'Thêm domain',
    label: 'Tên miền',
    placeholder: 'shop.example.com',
    ok: 'OK',
    verified: 'Đã xác minh',
    lost: 'Không còn trỏ về đây',
    lostHint: (when) => `Lần kiểm tra gần nhất, ${when}, tên miền không còn trỏ về máy chủ này.`,
    verify: 'Xác minh',
    notVerified: 'Tên miền chưa được xác minh !',
    waiting: 'Đang chờ DNS',
    checked: (seconds) =>
      `Đã kiểm tra ${seconds} giây trước. Khi trang này còn mở, hệ thống kiểm tra mỗi 30 giây ` +
      'và thêm tên miền ngay khi sẵn sàng.',
    roles: {
      both: 'xác minh tên miền và đưa khách truy cập về đây',
      proves: 'xác minh tên miền là của bạn',
      points: 'đưa khách truy cập về đây',
    },
    notPointed: 'Chưa trỏ về đây',
    notPointedHint:
      'Tên miền đã xác minh. Hãy tạo bản ghi địa chỉ để khách truy cập vào được trang.',
    added: 'Thêm tên miền thành công !',
    failed: 'Cập nhật thất bại !',
    records: 'Hãy tạo các bản ghi sau ở nơi quản lý tên miền. Thay đổi DNS có thể mất tới một giờ.',
    recordName: 'Tên',
    recordValue: 'Giá trị',
    found: (values) => `Hiện tìm thấy: ${values}`,
    foundNothing: 'Chưa tìm thấy gì',
    show: 'Xem bản ghi cần tạo',
    forget: 'Xoá tên miền này',
    remove: (name) => `Gỡ ${name}`,
    removeTitle: 'Gỡ tên miền này?',
    removeText: (name) =>
      `${name} sẽ không còn hiển thị trang của bạn. Trong 30 ngày, tài khoản khác phải xác ` +
      'minh bằng bản ghi TXT mới thêm được.',
    removeButton: 'Gỡ',
    removed: 'Xoá tên miền thành công !',
    removeFailed: 'Xoá tên miền thất bại!',
    closed: 'Không thể thêm tên miền cho máy chủ này nữa.',
  },
  https: {
    issued: 'Đã có HTTPS',
    pending: 'Đang cài HTTPS',
    failed: 'Chưa có HTTPS',
    expired: 'Chứng chỉ hết hạn',
    by: (issuer, from, until) =>
      `Chứng chỉ do ${issuer} cấp ngày ${from}, hiệu lực đến ${until}. Hệ thống tự gia hạn.`,
    pendingHint: 'Hệ thống đang xin chứng chỉ, thường mất chưa đến một phút.',
    notRenewed: (until) =>
      `Chứng chỉ còn hiệu lực đến ${until} nhưng lần gia hạn vừa rồi thất bại.`,
    next: (when) => `Lần thử tự động tiếp theo: ${when}`,
    retry: 'Thử lại',
    retried: 'Đang xin lại chứng chỉ…',
    retryFailed: 'Chưa thể thử lại !',
    said: (detail) => `Phản hồi của nơi cấp chứng chỉ: ${detail}`,
    problems: {
      not_pointed: (found) =>
        found === ''
          ? 'Tên miền chưa có bản ghi địa chỉ. Hãy tạo bản ghi DNS để trỏ tên miền về đây.'
          : `Tên miền đang trỏ về ${found}, không phải máy chủ này. Hãy sửa lại bản ghi DNS.`,
      dns: () =>
        'Nơi cấp chứng chỉ không tra cứu được tên miền này. Hãy kiểm tra bản ghi DNS và máy chủ ' +
        'tên miền (NS).',
      connection: () =>
        'Nơi cấp chứng chỉ không kết nối được tới trang của bạn. Hãy kiểm tra để mọi bản ghi ' +
        'địa chỉ đều trỏ về đây và không bị tường lửa hay CDN chặn.',
      unauthorized: () =>
        'Nơi cấp chứng chỉ kết nối tới một máy chủ khác. Hãy xoá các bản ghi A, AAAA không trỏ ' +
        'về đây và tắt chế độ proxy của CDN.',
      caa: () =>
        'Bản ghi CAA của tên miền không cho phép nơi cấp chứng chỉ của chúng tôi. Hãy bổ sung ' +
        'vào bản ghi, hoặc xoá bản ghi này.',
      rate_limited: () =>
        'Gần đây tên miền này đã xin quá nhiều chứng chỉ. Bạn không cần làm gì: hệ thống sẽ xin ' +
        'lại ngay khi được phép.',
      refused: () =>
        'Nơi cấp chứng chỉ không cấp cho tên này. Hãy kiểm tra lại cách viết, hoặc liên hệ bộ ' +
        'phận hỗ trợ.',
      unavailable: () =>
        'Nơi cấp chứng chỉ không phản hồi. Bạn không cần làm gì: hệ thống vẫn tiếp tục thử.',
      account: () => 'Sự cố thuộc về phía chúng tôi, đội kỹ thuật đã nhận được cảnh báo.',
      zone_elsewhere: () => 'Sự cố thuộc về phía chúng tôi, đội kỹ thuật đã nhận được cảnh báo.',
    },
    title: 'Kết nối bảo mật',
    only: 'Luôn dùng HTTPS (HSTS)',
    onlyHint:
      'Trong một năm, trình duyệt chỉ mở các tên miền riêng của bạn qua HTTPS. Hãy bật khi mọi ' +
      'tên miền đều đã có HTTPS.',
    onlyOn: 'Trình duyệt sẽ chỉ dùng HTTPS.',
    onlyOff: 'Trình duyệt sẽ bỏ quy tắc này ở lần truy cập tới.',
    onlyFailed: 'Chưa lưu được thiết lập !',
  },
  backups: {
    title: 'Sao lưu',
    about:
      'Sao lưu mỗi đêm và theo yêu cầu. Chúng tôi khôi phục thử từng bản trước khi đánh dấu ' +
      'đã kiểm chứng.',
    leftTitle: 'Máy chủ này đã bị xoá',
    leftText:
      'Bạn vẫn tải được các bản sao lưu (tệp và cơ sở dữ liệu) trong vài ngày nữa. Sau đó ' +
      'chúng sẽ bị xoá.',
    make: 'Sao lưu ngay',
    begun: 'Đã bắt đầu sao lưu.',
    none: 'Chưa có bản sao lưu. Bản đầu tiên được tạo đêm nay. Bạn cũng có thể sao lưu ngay.',
    closed: 'Bạn có thể sao lưu và khôi phục khi máy chủ đang chạy.',
    more: 'Xem bản cũ hơn',
    manual: 'Tạo thủ công',
    nightly: 'Hằng đêm',
    making: 'Đang tạo',
    proven: 'Đã kiểm chứng',
    failed: 'Thất bại',
    failedHint:
      'Máy chủ không thay đổi. Bản tiếp theo được tạo đêm nay. Bạn cũng có thể thử lại ngay.',
    holds: (files, rows) => `${files} tệp, ${rows} dòng`,
    provenAt: (when) => `Đã khôi phục thử và đối chiếu lúc ${when}`,
    restoring: 'Đang khôi phục…',
    restoredAt: (when) => `Đã khôi phục từ bản này lúc ${when}`,
    restoreFailedAt: (when) => `Khôi phục thất bại lúc ${when}. Máy chủ không thay đổi.`,
    restore: 'Khôi phục',
    restoreOf: (when) => `Khôi phục bản sao lưu ${when}`,
    restoreTitle: 'Khôi phục bản sao lưu này?',
    restoreText: (name, when) =>
      `Tệp và cơ sở dữ liệu của ${name} sẽ trở về như lúc ${when}; mọi thay đổi sau đó sẽ ` +
      'mất. Khách truy cập thấy trang chờ trong vài giây. Gói, giá và tên miền giữ nguyên.',
    restoreBegun: 'Đã bắt đầu khôi phục.',
    downloadOf: (when) => `Tải bản sao lưu ${when}`,
  },
  logs: {
    title: 'Nhật ký',
    connecting: 'Đang kết nối…',
    live: 'Trực tiếp',
    paused: 'Tạm dừng',
    reconnecting: 'Đang kết nối lại…',
    follow: 'Theo dõi',
    pause: 'Tạm dừng',
    resume: 'Tiếp tục',
    search: 'Tìm trong nhật ký',
    wrap: 'Xuống dòng',
    download: 'Tải về',
    clear: 'Xoá màn hình',
    matches: (count) => `${count} dòng`,
    newLines: (count) => `${count} dòng mới`,
    none: 'Chưa có dòng nào. Nhật ký của trang sẽ hiện ở đây.',
    noMatch: 'Không có dòng nào chứa cụm này.',
    failed: (url) => `Thất bại ! Không thể kết nối tới ${url}`,
    notRunning: 'Nhật ký sẽ có khi máy chủ chạy.',
    dropped: (count) => `Chỉ giữ ${count} dòng cuối.`,
  },
}

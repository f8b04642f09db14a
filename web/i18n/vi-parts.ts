/** Vietnamese: the parts of a server's page that are loaded when they are opened. */
import type { enParts } from './en-parts.ts'
import { viMail } from './vi-mail.ts'
import { viPhp } from './vi-php.ts'
import { viSftp } from './vi-sftp.ts'
import { viUpdates } from './vi-updates.ts'

export const viParts: typeof enParts = {
  ...viMail,
  ...viPhp,
  ...viSftp,
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
    staysOff: 'Sau khi thanh toán, máy chủ chỉ hoạt động lại khi được chúng tôi mở lại.',
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
    gone: (name, refunds) =>
      `Đã huỷ gói dịch vụ: ${name} đang được xoá.` +
      (refunds ? ' Phần thời gian chưa dùng được hoàn vào ví.' : ''),
    resumed: 'Đã tiếp tục gói dịch vụ.',
  },
  resize: {
    mailAnHour: (count) => `${count} email mỗi giờ`,
    mirrored: 'Bản sao trên máy thứ hai',
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
    short: (balance, short) => `Ví ${balance} · còn thiếu khoảng ${short}`,
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
  address: {
    title: 'Địa chỉ chính',
    label: 'Khách truy cập trang của bạn tại',
    hint:
      'Khách vào các địa chỉ khác sẽ được chuyển về đây, ' +
      'nhờ vậy máy tìm kiếm chỉ thấy một trang.',
    none: 'Mỗi địa chỉ hiển thị riêng',
    each: 'Mỗi địa chỉ tự hiển thị trang web.',
    chosen: (name) => `Khách truy cập sẽ được chuyển về ${name}.`,
    stored:
      'Liên kết và hình ảnh trong bài viết, phần cài đặt có thể vẫn dùng địa chỉ khác. ' +
      'Bạn có thể đổi chúng.',
    count: 'Kiểm tra địa chỉ đã lưu',
    found: (values, tables) => `Có ${values} giá trị còn dùng địa chỉ khác (trong ${tables} bảng).`,
    foundNone: (to) => `Mọi giá trị đã lưu đều dùng ${to}.`,
    skipped: (tables) => `Không thể đổi trong các bảng sau: ${tables}.`,
    write: 'Đổi địa chỉ',
    writeTitle: 'Đổi các địa chỉ đã lưu?',
    writeText: (values, to) =>
      `${values} giá trị sẽ chuyển sang dùng ${to}. Chỉ có thể hoàn tác bằng bản sao lưu: ` +
      'nếu chưa chắc chắn, hãy sao lưu trước.',
    writing: (values) => `Đang đổi… đã xong ${values} giá trị.`,
    written: (values, to) => `Đã đổi ${values} giá trị sang ${to}.`,
    stopped: (values) => `Quá trình dừng lại sau ${values} giá trị. Vui lòng thử lại.`,
  },
  history: {
    title: 'Thống kê theo thời gian',
    range: 'Khoảng thời gian',
    day: '24 giờ',
    week: '7 ngày',
    quarter: '90 ngày',
    now: 'Hiện tại',
    today: 'Hôm nay',
    empty: 'Chưa có số liệu. Số liệu đầu tiên sẽ có trong vòng mười phút.',
    none: 'Không có số liệu trong khoảng thời gian này.',
    visits: 'Số yêu cầu',
    requests: 'Tất cả yêu cầu',
    cached: 'Từ bộ nhớ đệm',
    times: 'Thời gian phản hồi',
    median: 'Trung vị',
    p95: 'Phân vị 95',
    errors: 'Lỗi',
    serverErrors: 'Lỗi máy chủ (5xx)',
    clientErrors: 'Không tìm thấy, bị từ chối (4xx)',
    processor: (cpu) => `Bộ xử lý (100% là một nhân; gói có ${cpu})`,
    cpu: 'Mức dùng trung bình',
    memory: (plan) => `Bộ nhớ (gói có ${plan})`,
    used: 'Đang dùng',
    disks: 'Ổ đĩa',
    files: (plan) => `Tệp, trên ${plan}`,
    database: (plan) => `Cơ sở dữ liệu, trên ${plan}`,
    most: (value) => `cao nhất ${value}`,
  },
  files: {
    title: 'Tệp',
    root: 'Thư mục wordpress',
    way: 'Thư mục hiện tại',
    up: 'Lên một thư mục',
    upload: 'Tải lên',
    uploads: 'Tệp đang tải lên',
    newFolder: 'Thư mục mới',
    create: 'Tạo',
    name: 'Tên',
    rename: 'Đổi tên',
    renameTitle: (name) => `Đổi tên ${name}`,
    edit: 'Chỉnh sửa',
    save: 'Lưu',
    saved: (name) => `Đã lưu ${name}.`,
    download: 'Tải về',
    remove: 'Xoá',
    removeTitle: (name) => `Xoá ${name}?`,
    removeText: 'Tệp sẽ bị xoá ngay. Bạn chỉ có thể lấy lại từ bản sao lưu.',
    removeFolderText:
      'Thư mục và mọi thứ bên trong sẽ bị xoá ngay. Bạn chỉ có thể lấy lại từ bản sao lưu.',
    noText: 'Tệp này không phải văn bản. Bạn có thể tải về.',
    empty: 'Thư mục trống. Kéo tệp vào đây để tải lên.',
    notWhole: 'Thư mục này có nhiều tệp hơn số có thể hiển thị.',
    closed: 'Bạn có thể thay đổi tệp khi máy chủ đang chạy.',
    link: 'liên kết, không mở được',
    actions: (name) => `Thao tác với ${name}`,
    percent: (share) => `${share}%`,
    there: 'Đã có tệp trùng tên.',
    replace: 'Ghi đè',
    stop: (name) => `Dừng tải lên ${name}`,
    sending: (name) => `Đang tải lên ${name}`,
    tooLarge: (name) => `${name} lớn hơn 512 MB.`,
  },
  visitors: {
    password: 'Mật khẩu cho khách truy cập',
    passwordText:
      'Khách phải nhập tên đăng nhập và mật khẩu trước khi xem bất kỳ trang hay tệp nào: dành ' +
      'cho cửa hàng đang xây dựng hoặc trang chỉ dành cho một nhóm người.',
    passwordIsOn: (user) => `Khách đang được yêu cầu nhập mật khẩu. Tên đăng nhập: ${user}`,
    passwordHint:
      'Hãy gửi mật khẩu này cho những người được phép truy cập và ghi lại, vì sau khi lưu không ' +
      'ai xem lại được. Khi đang bật, các ứng dụng đăng nhập WordPress bằng mật khẩu ứng dụng sẽ ' +
      'không dùng được.',
    user: 'Tên đăng nhập cho khách',
    newPassword: 'Mật khẩu',
    ask: 'Bật mật khẩu',
    change: 'Thay đổi',
    remove: 'Tắt mật khẩu',
    save: 'Lưu',
    passwordOn: 'Từ giờ khách phải nhập mật khẩu.',
    passwordOff: 'Mọi người lại có thể truy cập trang.',
    denied: 'Địa chỉ bị chặn',
    deniedText: 'Khách đến từ các địa chỉ và dải mạng này sẽ nhận thông báo không được phép vào.',
    networks: 'Mỗi dòng một địa chỉ hoặc dải mạng',
    deniedHint: (address) =>
      `Bạn đang truy cập từ ${address}. Dải mạng viết dạng 198.51.100.0/24. Tối đa 200 dòng.`,
    deniedSaved: (count) =>
      count === 0 ? 'Không còn địa chỉ nào bị chặn.' : `Đã lưu ${count} mục.`,
  },
  ...viUpdates,
  speed: {
    title: 'Bộ nhớ đệm trang',
    enabled: 'Lưu sẵn trang cho khách truy cập',
    hint:
      'Khách chưa đăng nhập nhận ngay trang đã lưu sẵn. ' +
      'Mọi thay đổi bạn thực hiện trên trang web hiển thị ngay lập tức. ' +
      'Khách đã đăng nhập, giỏ hàng và biểu mẫu không bao giờ dùng trang lưu sẵn.',
    on: 'Đã bật bộ nhớ đệm trang.',
    off: 'Đã tắt bộ nhớ đệm trang.',
    failed: 'Thay đổi bộ nhớ đệm trang thất bại !',
    day: '24 giờ qua',
    since: (time, percent) =>
      percent === null ? `Từ ${time}` : `Từ ${time}: ${percent} từ bộ nhớ đệm`,
    rate: 'Tỷ lệ trúng bộ nhớ đệm',
    noVisits: 'Chưa có lượt truy cập',
    hits: 'Từ bộ nhớ đệm',
    misses: 'Do WordPress tạo',
    bypassed: 'Không lưu đệm được',
    entries: 'Trang và tệp đang lưu',
    size: (bytes) => `${bytes} bộ nhớ`,
    unknown: 'Hiện chưa có số liệu.',
    purge: 'Xoá bộ nhớ đệm',
    purgeHint: 'Chỉ cần khi bạn thay đổi tệp theo cách WordPress không thấy được.',
    purged: (count) =>
      count === 0 ? 'Bộ nhớ đệm đang trống.' : `Đã xoá ${count} trang và tệp khỏi bộ nhớ đệm.`,
    purgeFailed: 'Xoá bộ nhớ đệm thất bại !',
    closed: 'Bộ nhớ đệm hoạt động khi máy chủ đang chạy.',
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
    noneYet: 'Chưa có bản sao lưu. Bản đầu tiên được tạo đêm nay.',
    closed: 'Bạn có thể sao lưu và khôi phục khi máy chủ đang chạy.',
    more: 'Xem bản cũ hơn',
    manual: 'Tạo thủ công',
    beforeUpdate: 'Trước khi cập nhật',
    nightly: 'Hằng đêm',
    mirrored: (when) =>
      'Máy chủ này có một bản sao trên máy thứ hai, cập nhật liên tục. Bản sao đã có mọi dữ liệu ' +
      `đến ${when}. Nếu máy đang chạy gặp sự cố, trang của bạn sẽ được khôi phục từ đó.`,
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

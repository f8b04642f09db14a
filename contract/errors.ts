/**
 * The closed list of refusals: code, HTTP status, and the sentence for the customer in both
 * languages.
 */
export type Language = 'en' | 'vi'

interface Entry {
  readonly status: number
  readonly en: string
  readonly vi: string
}

export const errors = {
  bad_json: {
    status: 400,
    en: 'The request is not valid JSON.',
    vi: 'Yêu cầu không phải JSON hợp lệ.',
  },
  invalid_input: {
    status: 422,
    en: 'Please check the highlighted fields.',
    vi: 'Vui lòng kiểm tra lại các trường được đánh dấu.',
  },
  unauthenticated: {
    status: 401,
    en: 'Please sign in to continue.',
    vi: 'Vui lòng đăng nhập để tiếp tục.',
  },
  session_locked: {
    status: 401,
    en: 'The session is locked.',
    vi: 'Phiên đang khoá.',
  },
  bad_credentials: {
    status: 401,
    en: 'Login fail, please try again !',
    vi: 'Đăng nhập thất bại, vui lòng thử lại !',
  },
  account_inactive: {
    status: 403,
    en: 'This account is not activated yet. Enter the code we sent to your phone.',
    vi: 'Tài khoản chưa được kích hoạt. Hãy nhập mã đã gửi tới điện thoại của bạn.',
  },
  address_lost: {
    status: 403,
    en:
      'Every device is signed out. The email address of this account was changed, and yours ' +
      'belongs to another account by now. Nobody can sign in until our support has helped you: ' +
      'please contact us.',
    vi:
      'Mọi thiết bị đã bị đăng xuất. Email của tài khoản này đã bị đổi và địa chỉ của bạn nay ' +
      'thuộc về một tài khoản khác. Không ai đăng nhập được cho đến khi bộ phận hỗ trợ giúp ' +
      'bạn: vui lòng liên hệ với chúng tôi.',
  },
  account_blocked: {
    status: 403,
    en: 'This account is blocked. Please contact us.',
    vi: 'Tài khoản này đang bị khoá. Vui lòng liên hệ với chúng tôi.',
  },
  second_factor_required: {
    status: 403,
    en: 'Enter a code of your authenticator app, or use a passkey.',
    vi: 'Hãy nhập mã từ ứng dụng xác thực hoặc dùng khoá truy cập.',
  },
  reauthentication_required: {
    status: 403,
    en: 'Please confirm with your second factor first.',
    vi: 'Vui lòng xác thực hai lớp trước khi tiếp tục.',
  },
  passkey_refused: {
    status: 422,
    en: 'This passkey could not be verified. Please try again.',
    vi: 'Không xác minh được khoá truy cập này. Vui lòng thử lại.',
  },
  link_expired: {
    status: 422,
    en: 'This link has expired or was used already.',
    vi: 'Liên kết này đã hết hạn hoặc đã được dùng.',
  },
  forbidden: {
    status: 403,
    en: 'You may not do that.',
    vi: 'Bạn không có quyền thực hiện thao tác này.',
  },
  not_found: { status: 404, en: 'We could not find that.', vi: 'Không tìm thấy nội dung này.' },
  conflict: {
    status: 409,
    en: 'Something changed in the meantime. Reload and try again.',
    vi: 'Dữ liệu vừa thay đổi. Hãy tải lại và thử lại.',
  },
  account_active: {
    status: 409,
    en: 'This account is active already. Please sign in.',
    vi: 'Tài khoản này đã được kích hoạt. Vui lòng đăng nhập.',
  },
  email_taken: {
    status: 409,
    en: 'An account with this email already exists.',
    vi: 'Email này đã có tài khoản.',
  },
  phone_taken: {
    status: 409,
    en: 'An account with this phone number already exists.',
    vi: 'Số điện thoại này đã có tài khoản.',
  },
  idempotency_in_progress: {
    status: 409,
    en: 'The same request is still in progress.',
    vi: 'Yêu cầu này đang được xử lý.',
  },
  payload_too_large: {
    status: 413,
    en: 'The request is too large (256 KiB at most).',
    vi: 'Yêu cầu quá lớn (tối đa 256 KiB).',
  },
  unsupported_media_type: {
    status: 415,
    en: 'Send JSON, please.',
    vi: 'Vui lòng gửi dữ liệu JSON.',
  },
  otp_invalid: {
    status: 422,
    en: 'That code is not right. Please check it and try again.',
    vi: 'Mã không đúng. Vui lòng kiểm tra và thử lại.',
  },
  otp_expired: {
    status: 422,
    en: 'That code has expired. Please ask for a new one.',
    vi: 'Mã đã hết hạn. Vui lòng yêu cầu mã mới.',
  },
  idempotency_key_reused: {
    status: 422,
    en: 'This Idempotency-Key was used for another request.',
    vi: 'Idempotency-Key này đã dùng cho một yêu cầu khác.',
  },
  method_unavailable: {
    status: 422,
    en: 'This payment method is not available for your region.',
    vi: 'Phương thức thanh toán này không có ở khu vực của bạn.',
  },
  payment_refused: {
    status: 422,
    en: 'The payment provider refused this payment. Please choose another way to pay.',
    vi: 'Cổng thanh toán từ chối giao dịch này. Vui lòng chọn cách thanh toán khác.',
  },
  insufficient_balance: {
    status: 422,
    en: 'Your balance is too low. Top up and try again.',
    vi: 'Số dư ví không đủ. Hãy nạp thêm và thử lại.',
  },
  no_room: {
    status: 409,
    en: 'The data centre has no room for this server at the moment. Nothing was charged.',
    vi: 'Trung tâm dữ liệu hiện không đủ chỗ cho máy chủ này. Chưa có khoản nào bị trừ.',
  },
  invoice_not_open: {
    status: 409,
    en: 'This invoice is already settled.',
    vi: 'Hoá đơn này đã được tất toán.',
  },
  subscription_not_active: {
    status: 409,
    en: 'This subscription is not active. Pay its open invoice first.',
    vi: 'Gói dịch vụ này không hoạt động. Hãy thanh toán hoá đơn còn mở trước.',
  },
  subscription_ended: {
    status: 409,
    en: 'This subscription has ended.',
    vi: 'Gói dịch vụ này đã kết thúc.',
  },
  disk_shrink: {
    status: 422,
    en: 'You can make a disk larger, but not smaller.',
    vi: 'Ổ đĩa chỉ có thể tăng, không thể giảm dung lượng.',
  },
  server_not_running: {
    status: 409,
    en: 'This server is not running yet.',
    vi: 'Máy chủ này chưa chạy.',
  },
  update_in_progress: {
    status: 409,
    en: 'This server is being updated. Please wait until it is done.',
    vi: 'Máy chủ này đang được cập nhật. Vui lòng đợi đến khi xong.',
  },
  nothing_to_update: {
    status: 409,
    en: 'There is nothing newer to install.',
    vi: 'Không có phiên bản mới nào để cài đặt.',
  },
  updates_off: {
    status: 409,
    en: 'This portal does not look for updates. Ask your provider.',
    vi: 'Hệ thống này không tìm bản cập nhật. Vui lòng liên hệ nhà cung cấp.',
  },
  directory_unavailable: {
    status: 503,
    en: 'The directory of WordPress does not answer right now. Please try again later.',
    vi: 'Thư mục WordPress hiện không phản hồi. Vui lòng thử lại sau.',
  },
  backup_in_progress: {
    status: 409,
    en: 'A backup of this server is being made or restored. Please wait until it is done.',
    vi: 'Máy chủ này đang được sao lưu hoặc khôi phục. Vui lòng đợi đến khi xong.',
  },
  rewrite_in_progress: {
    status: 409,
    en: 'The stored addresses of this server are being rewritten. Please wait until it is done.',
    vi: 'Máy chủ này đang đổi các địa chỉ đã lưu. Vui lòng đợi đến khi xong.',
  },
  backup_not_proven: {
    status: 409,
    en: 'This backup is not verified, so it cannot be used.',
    vi: 'Bản sao lưu này chưa được kiểm chứng nên chưa dùng được.',
  },
  backup_too_large: {
    status: 422,
    en: "This backup is larger than the server's disks. Add disk space first.",
    vi: 'Bản sao lưu này lớn hơn ổ đĩa của máy chủ. Hãy tăng dung lượng trước.',
  },
  domain_not_verified: {
    status: 422,
    en: 'Domain is not verified !',
    vi: 'Tên miền chưa được xác minh !',
  },
  rate_limited: {
    status: 429,
    en: 'Too many attempts. Please wait a moment and try again.',
    vi: 'Bạn thao tác quá nhanh. Vui lòng đợi rồi thử lại.',
  },
  internal: {
    status: 500,
    en: 'Something went wrong on our side. Please try again.',
    vi: 'Đã có lỗi phía chúng tôi. Vui lòng thử lại.',
  },
  provider_unavailable: {
    status: 502,
    en: 'Our partner is not responding. Please try again.',
    vi: 'Đối tác đang không phản hồi. Vui lòng thử lại.',
  },
  maintenance: {
    status: 503,
    en: 'The portal is closed for maintenance. Sites and domains go on.',
    vi: 'Cổng đang đóng để bảo trì. Website và tên miền vẫn hoạt động.',
  },
  unavailable: {
    status: 503,
    en: 'The portal is busy or starting. Please try again in a moment.',
    vi: 'Cổng đang bận hoặc đang khởi động. Vui lòng thử lại sau giây lát.',
  },
} as const satisfies Record<string, Entry>

export type ErrorCode = keyof typeof errors

export const errorStatus = (code: ErrorCode): number => errors[code].status
export const errorText = (code: ErrorCode, language: Language): string => errors[code][language]

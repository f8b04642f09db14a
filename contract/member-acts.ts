/**
 * What a member did, in words for the account's owner: each call that is open to members and
 * changes something, by method and path. Separate from the endpoints, which every page loads.
 */
import type { Language } from './errors.ts'

/** A test checks that these are exactly the calls open to members. */
export const memberActs: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  'POST /api/v1/team/accounts/:id/enter': { en: 'Opened the account', vi: 'Mở tài khoản' },
  'POST /api/v1/auth/logout': { en: 'Left the account', vi: 'Rời tài khoản' },
  'PUT /api/v1/account': {
    en: 'Changed what invoices name',
    vi: 'Đổi thông tin ghi trên hoá đơn',
  },

  'POST /api/payments/checkout': { en: 'Began a top-up', vi: 'Bắt đầu nạp tiền' },
  'POST /api/payments/square/checkout': { en: 'Topped up by card', vi: 'Nạp tiền bằng thẻ' },
  'POST /api/payments/stripe/checkout': {
    en: 'Began a top-up by card',
    vi: 'Bắt đầu nạp tiền bằng thẻ',
  },
  'POST /api/payments/stripe/:transId/confirm': {
    en: 'Topped up by card',
    vi: 'Nạp tiền bằng thẻ',
  },
  'PUT /api/payments/stripe/attach': { en: 'Linked a card', vi: 'Liên kết thẻ' },
  'DELETE /api/payments/stripe/methods/:id': { en: 'Unlinked a card', vi: 'Huỷ liên kết thẻ' },
  'PUT /api/payments/auto-top-up': {
    en: 'Set automatic top-up',
    vi: 'Đặt tự động nạp ví',
  },
  'DELETE /api/payments/auto-top-up': {
    en: 'Switched automatic top-up off',
    vi: 'Tắt tự động nạp ví',
  },
  'POST /api/payments/stripe/invoices/:id/pay': { en: 'Paid an invoice', vi: 'Trả hoá đơn' },
  'POST /api/payments/voucher': { en: 'Used a voucher', vi: 'Dùng mã quà tặng' },

  'POST /api/subscriptions/:id/cancel': {
    en: 'Cancelled the renewal of a server',
    vi: 'Huỷ gia hạn một máy chủ',
  },
  'POST /api/subscriptions/:id/resume': {
    en: 'Had a server renewed again',
    vi: 'Bật lại gia hạn một máy chủ',
  },
  'POST /api/wp': { en: 'Ordered a server', vi: 'Đặt một máy chủ' },
  'POST /api/wp/coupon': {
    en: 'Asked what a coupon takes off an order',
    vi: 'Hỏi mã giảm giá bớt được bao nhiêu',
  },
  'PUT /api/wp/:id': { en: 'Changed plan or name', vi: 'Đổi gói hoặc tên' },
  'PUT /api/wp/:id/disk': {
    en: 'Changed disks or containers',
    vi: 'Đổi ổ đĩa hoặc số container',
  },
  'DELETE /api/wp/:id': { en: 'Deleted the server', vi: 'Xoá máy chủ' },
  'DELETE /api/dns/:id': { en: 'Deleted the domain', vi: 'Xoá tên miền' },

  'POST /api/tickets': { en: 'Opened a ticket', vi: 'Mở yêu cầu hỗ trợ' },
  'POST /api/tickets/:id/messages': { en: 'Wrote in a ticket', vi: 'Viết vào yêu cầu hỗ trợ' },
  'POST /api/tickets/files': {
    en: 'Attached a file to a ticket',
    vi: 'Đính kèm tệp vào yêu cầu hỗ trợ',
  },
  'PUT /api/tickets/:id/state': {
    en: 'Closed or reopened a ticket',
    vi: 'Đóng hoặc mở lại yêu cầu hỗ trợ',
  },
  'PUT /api/tickets/:id/rating': {
    en: 'Rated an answer of the support',
    vi: 'Đánh giá câu trả lời hỗ trợ',
  },

  'POST /api/dns': { en: 'Added a domain', vi: 'Thêm tên miền' },
  'POST /api/dns/:id/records': { en: 'Added a record', vi: 'Thêm bản ghi' },
  'PUT /api/dns/:id/records/:recordId': { en: 'Changed a record', vi: 'Sửa bản ghi' },
  'DELETE /api/dns/:id/records/:recordId': { en: 'Deleted a record', vi: 'Xoá bản ghi' },
  'POST /api/dns/:id/records/delete': { en: 'Deleted records', vi: 'Xoá nhiều bản ghi' },
  'POST /api/dns/:id/zone': { en: 'Imported a zone file', vi: 'Nhập tệp zone' },
  'POST /api/dns/:id/changes/:changeId/undo': {
    en: 'Undid a change of records',
    vi: 'Hoàn tác một thay đổi bản ghi',
  },
  'POST /api/dns/:id/point': {
    en: 'Pointed the domain at a server',
    vi: 'Trỏ tên miền về máy chủ',
  },

  'POST /api/wp/:id/restart': { en: 'Restarted the server', vi: 'Khởi động lại máy chủ' },
  'POST /api/wp/:id/admin-link': {
    en: 'Signed in to the admin of WordPress',
    vi: 'Đăng nhập trang quản trị WordPress',
  },
  'PUT /api/wp/:id/https': { en: 'Changed HTTPS', vi: 'Đổi cài đặt HTTPS' },
  'POST /api/wp/:id/https/:name/retry': {
    en: 'Asked for a certificate again',
    vi: 'Yêu cầu lại chứng chỉ',
  },
  'PUT /api/wp/:id/cache': { en: 'Changed the page cache', vi: 'Đổi bộ nhớ đệm trang' },
  'POST /api/wp/:id/cache/purge': { en: 'Emptied the page cache', vi: 'Xoá bộ nhớ đệm trang' },
  'PUT /api/wp/:id/php': { en: 'Changed PHP settings', vi: 'Đổi cài đặt PHP' },
  'POST /api/wp/:id/console': { en: 'Ran a command', vi: 'Chạy một lệnh' },
  'POST /api/wp/:id/database/ticket': {
    en: 'Asked for the database',
    vi: 'Yêu cầu mở cơ sở dữ liệu',
  },
  'POST /api/wp/:id/database/session': { en: 'Opened the database', vi: 'Mở cơ sở dữ liệu' },
  'DELETE /api/wp/:id/database/session': { en: 'Closed the database', vi: 'Đóng cơ sở dữ liệu' },
  'PUT /api/wp/:id/database/row': { en: 'Changed rows', vi: 'Sửa dòng dữ liệu' },
  'POST /api/wp/:id/database/row': { en: 'Read a row', vi: 'Đọc một dòng dữ liệu' },
  'POST /api/wp/:id/database/statement': {
    en: 'Ran a statement in the database',
    vi: 'Chạy câu lệnh trong cơ sở dữ liệu',
  },
  'POST /api/wp/:id/files/folder': { en: 'Made a folder', vi: 'Tạo thư mục' },
  'POST /api/wp/:id/files/move': { en: 'Moved a file', vi: 'Di chuyển tệp' },
  'PUT /api/wp/:id/files/content': { en: 'Wrote a file', vi: 'Ghi tệp' },
  'DELETE /api/wp/:id/files': { en: 'Deleted files', vi: 'Xoá tệp' },
  'PUT /api/wp/:id/visitors/denied': {
    en: 'Changed who may not visit the site',
    vi: 'Đổi danh sách bị chặn truy cập',
  },
  'PUT /api/wp/:id/visitors/password': {
    en: 'Set a password for visitors',
    vi: 'Đặt mật khẩu cho khách truy cập',
  },
  'DELETE /api/wp/:id/visitors/password': {
    en: 'Removed the password for visitors',
    vi: 'Bỏ mật khẩu cho khách truy cập',
  },
  'POST /api/wp/:id/backups': { en: 'Made a backup', vi: 'Tạo bản sao lưu' },
  'POST /api/wp/:id/backups/:backupId/link': {
    en: 'Took a backup’s download link',
    vi: 'Lấy liên kết tải bản sao lưu',
  },
  'POST /api/wp/:id/backups/:backupId/restore': {
    en: 'Restored a backup',
    vi: 'Khôi phục bản sao lưu',
  },
  'PUT /api/wp/:id/domain': { en: 'Added a domain to the server', vi: 'Thêm tên miền vào máy chủ' },
  'DELETE /api/wp/:id/domain/:name': {
    en: 'Removed a domain from the server',
    vi: 'Gỡ tên miền khỏi máy chủ',
  },
  'PUT /api/wp/:id/domain/primary': { en: 'Chose the main address', vi: 'Chọn địa chỉ chính' },
  'POST /api/wp/:id/domain/rewrite': {
    en: 'Had stored addresses rewritten',
    vi: 'Viết lại các địa chỉ đã lưu',
  },
  'POST /api/wp/:id/domain/rewrite/preview': {
    en: 'Looked at what rewriting addresses would change',
    vi: 'Xem trước việc viết lại địa chỉ',
  },
  'POST /api/wp/:id/import': { en: 'Began to move a site in', vi: 'Bắt đầu chuyển trang về' },
  'PUT /api/wp/:id/import/:importId/files/:file': {
    en: 'Uploaded a piece of a site',
    vi: 'Tải lên một phần của trang',
  },
  'POST /api/wp/:id/import/:importId/build': {
    en: 'Built the copy of a site that moves in',
    vi: 'Dựng bản sao của trang được chuyển về',
  },
  'POST /api/wp/:id/import/:importId/switch': {
    en: 'Put the copy in the place of the site',
    vi: 'Đưa bản sao vào thay trang đang chạy',
  },
  'POST /api/wp/:id/import/:importId/undo': {
    en: 'Went back to the site before the move',
    vi: 'Quay lại trang trước khi chuyển',
  },
  'DELETE /api/wp/:id/import/:importId': {
    en: 'Gave up moving a site in',
    vi: 'Huỷ việc chuyển trang về',
  },
  'PUT /api/wp/:id/mail': { en: 'Changed mail settings', vi: 'Đổi cài đặt thư' },
  'POST /api/wp/:id/mail/recipients': {
    en: 'Let letters go to an address again',
    vi: 'Cho phép gửi thư lại tới một địa chỉ',
  },
  'POST /api/wp/:id/mail/records': {
    en: 'Wrote the mail records into the DNS',
    vi: 'Ghi các bản ghi thư vào DNS',
  },
  'POST /api/wp/:id/updates': { en: 'Updated the site', vi: 'Cập nhật trang' },
  'PUT /api/wp/:id/updates/policy': {
    en: 'Changed when the site is updated',
    vi: 'Đổi lịch cập nhật trang',
  },
  'POST /api/wp/:id/updates/look': { en: 'Looked for updates', vi: 'Tìm bản cập nhật' },
}

/**
 * Field messages that only the server can give: a value is taken, unknown, or not allowed now. No
 * screen loads them.
 */
import type { Language } from './errors.ts'
import { ruleText as formRuleText, type RuleKey as FormRuleKey } from './sentences.ts'

const rules = {
  disk_region_minimum: {
    en: 'This region needs a larger disk.',
    vi: 'Khu vực này cần ổ đĩa lớn hơn.',
  },
  containers_limit: {
    en: 'This data centre runs fewer containers per site.',
    vi: 'Trung tâm dữ liệu này chạy ít container hơn cho mỗi trang.',
  },
  containers_no_room: {
    en: 'This data centre has no room for that many containers at the moment.',
    vi: 'Trung tâm dữ liệu này hiện không đủ chỗ cho số container đó.',
  },
  server_name_taken: { en: 'This name is taken.', vi: 'Tên này đã có người dùng.' },
  region_unavailable: {
    en: 'This data centre takes no new servers at the moment.',
    vi: 'Trung tâm dữ liệu này hiện không nhận máy chủ mới.',
  },
  unknown_region: {
    en: 'Choose a data centre from the list.',
    vi: 'Hãy chọn một trung tâm dữ liệu trong danh sách.',
  },
  unknown_plan: { en: 'Choose a plan from the list.', vi: 'Hãy chọn một gói trong danh sách.' },
  password_common: {
    en: 'This password is too common. Choose another.',
    vi: 'Mật khẩu này quá phổ biến. Hãy chọn mật khẩu khác.',
  },
  password_breached: {
    en: 'This password is known from a data leak. Choose another.',
    vi: 'Mật khẩu này đã bị lộ trong một vụ rò rỉ dữ liệu. Hãy chọn mật khẩu khác.',
  },
  password_wrong: { en: 'This is not your current password.', vi: 'Mật khẩu hiện tại chưa đúng.' },
  email_same: { en: 'This is your email address already.', vi: 'Đây đang là email của bạn.' },
  phone_same: {
    en: 'This is your phone number already.',
    vi: 'Đây đang là số điện thoại của bạn.',
  },
  amount_range: { en: 'The amount is outside the limits.', vi: 'Số tiền nằm ngoài hạn mức.' },
  card_not_linked: { en: 'Choose a linked card.', vi: 'Hãy chọn một thẻ đã liên kết.' },
  location: { en: 'Choose a place from the list.', vi: 'Hãy chọn một địa điểm trong danh sách.' },
  period_order: {
    en: 'The period ends before it begins.',
    vi: 'Khoảng thời gian kết thúc trước khi bắt đầu.',
  },
  domain_form: {
    en: 'Enter a domain of your own, such as shop.example.vn.',
    vi: 'Nhập một tên miền của bạn, ví dụ shop.example.vn.',
  },
  other_server: { en: 'This is the id of another server.', vi: 'Đây là mã của một máy chủ khác.' },
  php_seconds: {
    en: 'This is longer than a page may take here.',
    vi: 'Thời gian này vượt mức tối đa cho một trang ở đây.',
  },
  ssh_key_form: {
    en: 'This is not a public key. Paste the one line of a .pub file.',
    vi: 'Đây không phải là khoá công khai. Hãy dán nguyên dòng trong tệp .pub.',
  },
  ssh_key_private: {
    en: 'This is a private key. Never give it away: paste the public one, of the .pub file.',
    vi: 'Đây là khoá riêng. Đừng đưa cho ai: hãy dán khoá công khai trong tệp .pub.',
  },
  ssh_key_kind: {
    en: 'Keys of this kind cannot be used here. Make one with: ssh-keygen -t ed25519',
    vi: 'Loại khoá này không dùng được ở đây. Hãy tạo khoá bằng: ssh-keygen -t ed25519',
  },
  ssh_key_short: {
    en: 'This RSA key is too short: 2048 bits at least.',
    vi: 'Khoá RSA này quá ngắn: tối thiểu 2048 bit.',
  },
  ssh_key_known: {
    en: 'This server has this key already.',
    vi: 'Máy chủ này đã có khoá này.',
  },
  ssh_key_many: {
    en: 'A server has 20 keys at most. Remove one first.',
    vi: 'Mỗi máy chủ có tối đa 20 khoá. Hãy xoá bớt khoá trước.',
  },
  command_slow: {
    en: 'The command took longer than half a minute and was ended.',
    vi: 'Lệnh chạy quá nửa phút nên đã bị dừng.',
  },
  command_broken: {
    en:
      'The site’s own code, such as a plugin or theme, ended the command. With --skip-plugins ' +
      '--skip-themes it runs without them.',
    vi:
      'Mã của trang web (plugin hoặc giao diện) đã làm gián đoạn lệnh. Hãy thêm --skip-plugins ' +
      '--skip-themes để chạy lệnh mà không nạp chúng.',
  },
  command_unknown: {
    en: 'There is no such command; “help” lists all.',
    vi: 'Không có lệnh này; gõ “help” để xem tất cả.',
  },
  command_unconfirmed: {
    en: 'This command changes or deletes much. Confirm it, or add --yes.',
    vi: 'Lệnh này sửa hoặc xoá nhiều dữ liệu. Hãy xác nhận, hoặc thêm --yes.',
  },
  command_running: {
    en: 'Another command is running on this server. Wait until it is done.',
    vi: 'Một lệnh khác đang chạy trên máy chủ này. Vui lòng đợi đến khi xong.',
  },
  command_came_before: {
    en: 'This command was sent before. The history says what became of it.',
    vi: 'Lệnh này đã được gửi trước đó. Xem kết quả trong lịch sử.',
  },
  database_slow: {
    en: 'The database took longer than 10 seconds, and the question was ended.',
    vi: 'Cơ sở dữ liệu xử lý quá 10 giây nên yêu cầu đã bị dừng.',
  },
  database_broken: {
    en: 'The database gave no answer that can be shown.',
    vi: 'Cơ sở dữ liệu không trả về kết quả hiển thị được.',
  },
  statement_empty: { en: 'Type a statement.', vi: 'Hãy nhập một câu lệnh.' },
  statement_several: {
    en: 'One statement at a time: there is something after the semicolon.',
    vi: 'Mỗi lần chỉ chạy một câu lệnh: sau dấu chấm phẩy vẫn còn nội dung.',
  },
  statement_open: {
    en: 'A quotation mark or a comment is not closed, or a comment holds a statement.',
    vi: 'Thiếu dấu nháy hoặc dấu đóng chú thích, hoặc chú thích chứa câu lệnh.',
  },
  statement_other: {
    en: 'Only statements that read or change tables are possible here.',
    vi: 'Ở đây chỉ chạy được câu lệnh đọc hoặc sửa bảng.',
  },
  statement_writes: {
    en: 'This statement changes the database. Switch “Allow changes” on first.',
    vi: 'Câu lệnh này sửa cơ sở dữ liệu. Hãy bật “Cho phép thay đổi” trước.',
  },
  export_too_large: {
    en: 'The table has more than 100,000 rows. Take a backup instead.',
    vi: 'Bảng có hơn 100.000 dòng. Hãy dùng bản sao lưu.',
  },
  file_exists: {
    en: 'There is something of that name already.',
    vi: 'Đã có tệp hoặc thư mục trùng tên.',
  },
  file_kind: { en: 'This is not a file.', vi: 'Đây không phải là tệp.' },
  file_link: { en: 'This is a link; links are not followed.', vi: 'Không thể mở liên kết.' },
  file_name: { en: 'This name is not possible here.', vi: 'Tên này không dùng được ở đây.' },
  file_ours: {
    en: 'WordPress cannot run without this: it cannot be changed here.',
    vi: 'WordPress cần mục này để chạy nên không thể thay đổi tại đây.',
  },
  file_denied: {
    en: 'The site does not allow access to this.',
    vi: 'Trang web không cho phép truy cập mục này.',
  },
  file_full: {
    en: 'The disk of this server has no room for it.',
    vi: 'Ổ đĩa của máy chủ không đủ chỗ.',
  },
  file_offset: {
    en: 'A piece of this upload is missing. Upload the file again.',
    vi: 'Thiếu một phần của tệp. Hãy tải tệp lên lại.',
  },
  primary_unknown: {
    en: 'It must be one of the names of this server.',
    vi: 'Đây phải là một tên miền của máy chủ này.',
  },
  primary_elsewhere: {
    en: 'This name does not lead to the server yet: its visitors would find nothing.',
    vi: 'Tên miền này chưa trỏ về máy chủ, nên khách truy cập sẽ không tìm thấy gì.',
  },
  rewrite_slow: {
    en: 'It took longer than an hour. What was written stays: start it again to write the rest.',
    vi: 'Đã dừng vì kéo dài hơn một giờ. Phần đã đổi được giữ lại: hãy chạy lại để đổi tiếp.',
  },
  rewrite_lost: {
    en: 'The server came up on another node meanwhile. Start it again to write the rest.',
    vi: 'Máy chủ đã được dựng lại trên một node khác trong lúc đổi. Hãy chạy lại để đổi tiếp.',
  },
  rewrite_astray: {
    en: 'The site does not answer as WordPress does. Check what its wp-config.php runs.',
    vi: 'Trang web không trả lời như WordPress. Hãy kiểm tra mã chạy trong wp-config.php.',
  },
  mail_sender_domain: {
    en: 'The address must be on one of the proven names of this server.',
    vi: 'Địa chỉ phải thuộc một tên miền đã xác minh của máy chủ này.',
  },
  mail_zone_elsewhere: {
    en: 'The DNS of this domain is managed elsewhere. Copy the records and add them there.',
    vi: 'DNS của tên miền này được quản lý ở nơi khác. Hãy sao chép các bản ghi và thêm tại đó.',
  },
  mail_spf_twice: {
    en: 'The domain has two SPF records, which makes both void. Delete one of them first.',
    vi: 'Tên miền có hai bản ghi SPF nên cả hai đều vô hiệu. Hãy xoá bớt một bản ghi trước.',
  },
  import_too_large: {
    en: "These files are larger than the server's disk. Add disk space first.",
    vi: 'Các tệp này lớn hơn ổ đĩa của máy chủ. Hãy tăng dung lượng trước.',
  },
  import_origin: {
    en: 'Enter the address of the website, such as https://www.example.com.',
    vi: 'Hãy nhập địa chỉ trang web, ví dụ https://www.example.com.',
  },
  domain_taken: {
    en: 'Another of your servers has this domain.',
    vi: 'Một máy chủ khác của bạn đang dùng tên miền này.',
  },
  cursor: { en: 'This cursor is not valid.', vi: 'Con trỏ trang không hợp lệ.' },
  orders_unpaid: {
    en: 'You have five unpaid orders. Pay or delete one of them first.',
    vi: 'Bạn có năm đơn hàng chưa thanh toán. Hãy thanh toán hoặc xoá bớt một đơn trước.',
  },
} as const satisfies Record<string, Record<Language, string>>

export type RuleKey = keyof typeof rules | FormRuleKey

const isOwn = (key: RuleKey): key is keyof typeof rules => key in rules

/** The sentence of one rule, from this file or from the ones that screens share. */
export const ruleText = (key: RuleKey, language: Language): string =>
  isOwn(key) ? rules[key][language] : formRuleText(key, language)

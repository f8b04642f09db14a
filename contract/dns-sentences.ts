/**
 * What is wrong with a domain or a record, in both languages. A separate file, so that only the DNS
 * screens load it.
 */
import type { Language } from './errors.ts'

export const recordRules = {
  record_name: {
    en: 'Use @ for the domain itself, or a name such as www, *.shop or _dmarc.',
    vi: 'Dùng @ cho tên miền gốc, hoặc một tên như www, *.shop hay _dmarc.',
  },
  record_name_outside: {
    en: 'This name is not in the domain.',
    vi: 'Tên này không thuộc tên miền.',
  },
  a_label: {
    en:
      'A part of this name begins with xn-- but is not valid. Type the name in its own ' +
      'letters, such as chào.',
    vi:
      'Một phần của tên này bắt đầu bằng xn-- nhưng không hợp lệ. Hãy nhập tên bằng chữ ' +
      'gốc, ví dụ chào.',
  },
  record_ipv4: {
    en: 'Enter an IPv4 address, such as 203.0.113.7.',
    vi: 'Nhập địa chỉ IPv4, ví dụ 203.0.113.7.',
  },
  record_ipv6: {
    en: 'Enter an IPv6 address, such as 2001:db8::7.',
    vi: 'Nhập địa chỉ IPv6, ví dụ 2001:db8::7.',
  },
  record_target: {
    en: 'Enter a full host name, such as shop.example.com.',
    vi: 'Nhập một tên máy chủ đầy đủ, ví dụ shop.example.com.',
  },
  record_mail_host: {
    en: 'Enter the full host name of the mail server, such as mail.example.com: not an address.',
    vi: 'Nhập tên đầy đủ của máy chủ thư, ví dụ mail.example.com: không dùng địa chỉ IP.',
  },
  record_name_server: {
    en: 'Enter the full host name of the name server, such as ns1.example.com: not an address.',
    vi: 'Nhập tên đầy đủ của nameserver, ví dụ ns1.example.com: không dùng địa chỉ IP.',
  },
  record_text_empty: { en: 'Enter the text of the record.', vi: 'Nhập nội dung của bản ghi.' },
  record_text_control: {
    en: 'The text may not hold line breaks or other control characters.',
    vi: 'Nội dung không được chứa ký tự xuống dòng hay ký tự điều khiển.',
  },
  record_text_quoted: {
    en:
      'Between the quotation marks, \\ is followed by another character or by three digits from ' +
      '000 to 255, and the whole must be UTF-8.',
    vi:
      'Trong dấu ngoặc kép, sau \\ phải là một ký tự khác hoặc ba chữ số từ 000 đến 255, và ' +
      'toàn bộ phải là UTF-8.',
  },
  record_text_length: {
    en: 'The text may have 2048 bytes at most.',
    vi: 'Nội dung dài tối đa 2048 byte.',
  },
  record_ttl: {
    en: 'The TTL is a whole number of seconds from 30 to 86400.',
    vi: 'TTL là số giây nguyên từ 30 đến 86400.',
  },
  record_priority: {
    en: 'The priority is a whole number from 0 to 65535.',
    vi: 'Độ ưu tiên là số nguyên từ 0 đến 65535.',
  },
  record_null_mx: {
    en:
      '"." means that the domain takes no mail. It needs priority 0 and must be the only MX ' +
      'record of its name.',
    vi:
      '"." nghĩa là tên miền không nhận thư. Bản ghi cần độ ưu tiên 0 và là bản ghi MX duy ' +
      'nhất của tên này.',
  },
  record_apex_ns: {
    en:
      'You cannot change the name servers of the domain itself here. Use NS records for ' +
      'names below it.',
    vi: 'Bạn không thể đổi nameserver của tên miền ở đây. Hãy dùng bản ghi NS cho các tên con.',
  },
  record_apex_cname: {
    en: 'The domain itself cannot be a CNAME. Use an A record, or a name such as www.',
    vi: 'Tên miền gốc không thể là CNAME. Hãy dùng bản ghi A, hoặc một tên như www.',
  },
  record_cname_self: {
    en: 'A CNAME cannot point at itself.',
    vi: 'CNAME không thể trỏ về chính nó.',
  },
  record_cname_loop: {
    en: 'These CNAME records would form a loop.',
    vi: 'Các bản ghi CNAME này sẽ tạo thành vòng lặp.',
  },
  record_cname_second: {
    en: 'This name already has a CNAME record.',
    vi: 'Tên này đã có bản ghi CNAME.',
  },
  record_cname_beside: {
    en: 'This name already has other records. A CNAME cannot share its name.',
    vi: 'Tên này đã có bản ghi khác. Không đặt CNAME chung tên với bản ghi khác.',
  },
  record_beside_cname: {
    en: 'This name already has a CNAME record. A CNAME cannot share its name.',
    vi: 'Tên này đã có bản ghi CNAME. Không đặt bản ghi khác chung tên với CNAME.',
  },
  record_target_is_cname: {
    en:
      'This name is a CNAME in this domain. Mail and name servers must be named by a host with ' +
      'addresses.',
    vi: 'Tên này là CNAME trong tên miền. Máy chủ thư và nameserver phải là tên có địa chỉ.',
  },
  record_cname_is_target: {
    en: 'An MX or NS record of this domain points at this name, so it cannot be a CNAME.',
    vi: 'Một bản ghi MX hoặc NS của tên miền đang trỏ tới tên này, nên nó không thể là CNAME.',
  },
  record_duplicate: { en: 'This record exists already.', vi: 'Bản ghi này đã tồn tại.' },
  record_set_limit: {
    en: 'A name may have 100 records of one type at most, with 16000 characters together.',
    vi: 'Một tên có tối đa 100 bản ghi cùng loại, tổng cộng 16000 ký tự.',
  },
  record_limit: {
    en: 'A domain may have 10000 records at most.',
    vi: 'Một tên miền có tối đa 10000 bản ghi.',
  },
  domain_form: {
    en: 'Enter a domain such as example.vn.',
    vi: 'Nhập một tên miền, ví dụ example.vn.',
  },
  domain_public_suffix: {
    en: 'This is a public suffix. Enter your own domain, such as example.com.vn.',
    vi: 'Đây là đuôi tên miền dùng chung. Hãy nhập tên miền của bạn, ví dụ example.com.vn.',
  },
  domain_ours: {
    en: 'This name belongs to the portal itself.',
    vi: 'Tên này thuộc về chính cổng dịch vụ.',
  },
  domain_yours: {
    en: 'This domain is already in your list.',
    vi: 'Tên miền này đã có trong danh sách của bạn.',
  },
  domain_held: {
    en: 'Another account has this domain active.',
    vi: 'Tên miền này đang được kích hoạt ở một tài khoản khác.',
  },
  domain_parent_held: {
    en: 'Another account has the domain above this one active.',
    vi: 'Tên miền cấp trên của tên này đang được kích hoạt ở một tài khoản khác.',
  },
  domain_limit: {
    en: 'You have many domains waiting for activation. Activate or delete some first.',
    vi: 'Bạn đang có nhiều tên miền chờ kích hoạt. Hãy kích hoạt hoặc xoá bớt trước.',
  },
  domain_pairs_used: {
    en:
      'No name servers are free for this domain now. Remove ours at your registrar, or contact ' +
      'us.',
    vi:
      'Hiện không còn nameserver nào cho tên miền này. Hãy gỡ nameserver của chúng tôi ở nhà ' +
      'đăng ký, hoặc liên hệ với chúng tôi.',
  },
  record_changed: {
    en: 'This record was changed in the meantime. Reload to see the new version.',
    vi: 'Bản ghi này vừa được thay đổi. Hãy tải lại để xem nội dung mới.',
  },
  change_overtaken: {
    en: 'These records have changed again. Undo the newer change first.',
    vi: 'Các bản ghi này đã được thay đổi tiếp sau đó. Hãy hoàn tác thay đổi mới hơn trước.',
  },
  change_undone: { en: 'This change was already undone.', vi: 'Thay đổi này đã được hoàn tác.' },
  other_domain: { en: 'This is the id of another domain.', vi: 'Đây là mã của một tên miền khác.' },
} as const satisfies Record<string, Record<Language, string>>

export type RecordRule = keyof typeof recordRules

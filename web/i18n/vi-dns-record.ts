/** Tiếng Việt: biểu mẫu của một bản ghi. */
import type { enDnsRecord } from './en-dns-record.ts'

export const viDnsRecord: typeof enDnsRecord = {
  record: {
    addTitle: 'Thêm bản ghi DNS',
    editTitle: 'Sửa bản ghi DNS',
    notFound: 'Không tìm thấy bản ghi này. Bản ghi có thể đã bị xoá hoặc địa chỉ không đúng.',
    name: 'Tên',
    namePlaceholder: 'Dùng @ cho tên miền gốc',
    type: 'Loại',
    ttl: 'TTL',
    ttlAside: 'giây',
    priority: 'Độ ưu tiên',
    priorityHint: 'Máy chủ thư có số nhỏ nhất được thử trước.',
    priorityUnused: 'Chỉ bản ghi MX dùng tới.',
    labels: {
      A: 'IPV4',
      AAAA: 'IPV6',
      TXT: 'Nội dung',
      MX: 'Máy chủ thư',
      NS: 'Nameserver',
      CNAME: 'Đích',
    },
    proxied: 'Qua proxy',
    proxiedHint: 'Lưu lượng đi qua CDN trước khi tới máy chủ.',
    proxiedType: 'Chỉ bản ghi A, AAAA và CNAME mới qua proxy được.',
    summary: 'Tóm tắt',
    ip: 'IP',
    save: 'Xác nhận lưu bản ghi',
    saved: 'Đã lưu bản ghi.',
    failed: 'Không thêm được bản ghi vào tên miền !',
    reload: 'Tải nội dung hiện tại',
    editFailed: 'Chưa lưu được bản ghi.',
    missing: 'Vui lòng nhập thông tin bản ghi !',
    required: 'Vui lòng nhập trường này.',
    quoted: (text) => `Lưu không kèm dấu ngoặc kép: ${text}`,
    along: (count, of, from, to) =>
      `${count} bản ghi ${of} khác cũng đổi TTL theo: ${to} thay vì ${from}. Các bản ghi cùng ` +
      'tên, cùng loại dùng chung một TTL.',
    alongProxied: (count, of) => `${count} bản ghi ${of} khác cũng đổi theo công tắc này.`,
    savedAlong: (count, ttl) =>
      `Đã lưu bản ghi. ${count} bản ghi khác cùng tên, cùng loại cũng đổi theo (TTL: ${ttl}).`,
  },
}

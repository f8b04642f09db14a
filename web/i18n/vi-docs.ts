/** Tiếng Việt: các trang trợ giúp. */
import type { enDocs } from './en-docs.ts'

const list = new Intl.ListFormat('vi', { type: 'conjunction' })

/** [0, 3, 6]: "khi tới hạn, rồi sau 3 và 6 ngày". */
function onDays(reminders: readonly number[]): string {
  const after = reminders.filter((day) => day > 0)
  const later = `sau ${list.format(after.map(String))} ngày`
  if (after.length === reminders.length) return later
  return after.length === 0 ? 'khi tới hạn' : `khi tới hạn, rồi ${later}`
}

export const viDocs: typeof enDocs = {
  docs: {
    title: 'Trợ giúp',
    sub: 'Hướng dẫn các việc thường gặp',
    all: 'Tất cả trang trợ giúp',
    missing: 'Không tìm thấy trang trợ giúp này.',
    write: (address) => `Gửi thư tới ${address}`,
    open: 'Mở trang hỗ trợ',
    pages: {
      'top-up': {
        title: 'Nạp ví',
        sub: 'Thanh toán mọi dịch vụ từ ví trả trước',
        sections: [
          {
            heading: 'Tại Việt Nam',
            steps: [
              'Mở Nạp ví và chọn một số tiền, hoặc tự nhập.',
              'Chọn Thanh toán nội địa và cách thanh toán: Alepay, VietQR, thẻ ATM nội địa, thẻ ' +
                'quốc tế, VN Pay hoặc chuyển khoản.',
              'Thanh toán trên trang vừa mở. Với chuyển khoản, hãy quét mã QR hoặc sao chép ' +
                'đúng số tài khoản, số tiền và nội dung chuyển khoản.',
              'Bạn trở về trang quản lý. Chúng tôi cộng tiền ngay khi ngân hàng hoặc cổng ' +
                'thanh toán xác nhận, thường trong vài giây.',
            ],
          },
          {
            heading: 'Bằng thẻ',
            steps: [
              'Liên kết thẻ một lần ở mục Thẻ liên kết. Thông tin thẻ được gửi thẳng tới ' +
                'nhà cung cấp dịch vụ thẻ, không qua chúng tôi.',
              'Mở Nạp ví, chọn số tiền và Thẻ tín dụng, chọn thẻ rồi xác nhận.',
              'Ngân hàng có thể yêu cầu bạn xác nhận trong ứng dụng.',
            ],
          },
          {
            heading: 'Khi tiền chưa vào ví',
            text: [
              'Khoản thanh toán chưa được ngân hàng xác nhận sẽ ở trạng thái đang chờ. Trang ' +
                'tự cập nhật, và mỗi khoản chỉ được cộng đúng một lần.',
              'Bạn đã rời trang trước khi chuyển khoản? Mở Nạp ví để quay lại trong vòng một ngày.',
              'Khoản chuyển không đọc được mã sẽ được giữ cho tới khi nhân viên đối ' +
                'soát xong. Hãy gửi thời điểm và số tiền cho bộ phận hỗ trợ.',
            ],
          },
        ],
      },
      order: {
        title: 'Đặt máy chủ WordPress',
        sub: 'Từ lúc chọn gói tới trang đầu tiên',
        sections: [
          {
            heading: 'Đặt hàng',
            steps: [
              'Mở WordPress và chọn Tạo WordPress.',
              'Chọn trung tâm dữ liệu, gói, ổ SSD và ổ MariaDB. Một số trung tâm dữ liệu yêu ' +
                'cầu từ 20 GB.',
              'Chọn tên đăng nhập và mật khẩu quản trị WordPress. Mật khẩu cần ít nhất 8 ' +
                'ký tự gồm chữ, số và một trong ! @ # $ % ^ & *.',
              'Xem tổng tiền mỗi tháng ở phần tóm tắt rồi xác nhận.',
            ],
          },
          {
            heading: 'Sau đó',
            text: [
              'Chúng tôi trừ phí tháng đầu từ ví và khởi tạo máy chủ, thường dưới một phút. ' +
                'Bạn có thể rời trang.',
              'Nếu số dư không đủ, chúng tôi sẽ khởi tạo máy chủ ngay khi bạn nạp ví.',
              'Nếu không tạo được máy chủ, chúng tôi huỷ đơn và hoàn tiền vào ví.',
            ],
          },
          {
            heading: 'Về sau',
            text: [
              'Nâng cấp ổ đĩa hoặc gói có hiệu lực ngay. Bạn trả cho phần còn lại của tháng, ' +
                'tính theo giây. Hạ gói có hiệu lực từ kỳ gia hạn. Không thể giảm dung ' +
                'lượng ổ đĩa.',
            ],
          },
        ],
      },
      dns: {
        title: 'DNS hoạt động thế nào',
        sub: 'Dùng nameserver của chúng tôi cho tên miền và quản lý bản ghi',
        sections: [
          {
            heading: 'Kích hoạt tên miền',
            steps: [
              'Mở DNS, chọn Tạo tên miền và nhập tên miền của bạn.',
              'Chọn Kích hoạt để xem hai nameserver dành cho tên miền.',
              'Tại nhà đăng ký, thay toàn bộ nameserver của tên miền bằng đúng hai nameserver này.',
              'Chọn Kiểm Tra. Thay đổi có thể mất tới 24 giờ. Chúng tôi sẽ tiếp tục kiểm ' +
                'tra trong 28 ngày.',
            ],
          },
          {
            heading: 'Vì sao phải đúng hai nameserver này',
            text: [
              'Mỗi tài khoản có một cặp riêng; việc đặt đúng cặp này chứng minh tên miền là ' +
                'của bạn. Nếu còn nameserver khác, khách có thể thấy kết quả cũ.',
            ],
          },
          {
            heading: 'Nếu kiểm tra không đạt',
            terms: [
              [
                'Chưa đăng ký',
                'Tên miền chưa được đăng ký. Kiểm tra lại chính tả, hoặc đăng ký trước.',
              ],
              ['Nameserver khác', 'Tên miền vẫn dùng nameserver cũ. Hãy thay bằng nameserver mới.'],
              ['Thừa nameserver', 'Tên miền còn dùng nameserver khác. Hãy xoá các nameserver đó.'],
              [
                'Chưa phục vụ',
                'Nameserver của chúng tôi chưa phục vụ tên miền. Hãy kiểm tra lại sau một phút.',
              ],
              [
                'Bản ghi DS cũ',
                'Nhà đăng ký còn khoá DNSSEC của nhà cung cấp trước. Hãy xoá bản ghi DS ở đó.',
              ],
              [
                'Đuôi dùng chung',
                'Những đuôi như com.vn là dùng chung. Hãy nhập tên miền riêng của bạn ' +
                  'dưới đuôi đó.',
              ],
            ],
          },
          {
            heading: 'Trỏ về máy chủ của bạn',
            text: [
              'Trong trang tên miền, mở menu và chọn Trỏ về máy chủ WordPress. Khách truy ' +
                'cập tên miền và www sẽ vào máy chủ. Bấm Hoàn tác để khôi phục bản ghi cũ.',
            ],
          },
        ],
      },
      'dns-records': {
        title: 'Hướng dẫn các loại bản ghi',
        sub: 'Mỗi loại dùng để làm gì, kèm ví dụ',
        sections: [
          {
            heading: 'Các loại',
            terms: [
              ['A', 'Địa chỉ IPv4 của một tên. Ví dụ: @ → 203.0.113.7'],
              ['AAAA', 'Địa chỉ IPv6 của một tên. Ví dụ: @ → 2001:db8::7'],
              [
                'CNAME',
                'Bí danh của một tên khác; không đặt chung với bản ghi khác và không dùng ' +
                  'cho tên miền gốc. Ví dụ: www → example.com',
              ],
              [
                'MX',
                'Máy chủ nhận thư, kèm độ ưu tiên. Số nhỏ hơn được dùng trước. Ví dụ: @ → 10 ' +
                  'mail.example.com',
              ],
              [
                'TXT',
                'Nội dung cho dịch vụ khác, như SPF hay xác minh sở hữu. Ví dụ: @ → ' +
                  'v=spf1 include:example.com ~all',
              ],
              ['NS', 'Dùng nameserver khác cho một tên miền con. Ví dụ: lab → ns1.example.net'],
            ],
          },
          {
            heading: 'Tên bản ghi và TTL',
            text: [
              'Dùng @ cho tên miền gốc, * cho mọi tên không có bản ghi riêng.',
              'TTL là số giây bản ghi được lưu đệm. Nên dùng 300, hoặc ít hơn trước khi ' +
                'chuyển máy chủ.',
              'Các bản ghi cùng tên, cùng loại dùng chung một TTL. TTL lưu sau cùng áp ' +
                'dụng cho tất cả; biểu mẫu sẽ báo trước.',
              'Nội dung dán kèm dấu ngoặc kép, như "v=spf1 -all", được lưu không kèm dấu ngoặc.',
            ],
          },
          {
            heading: 'Nhập và xuất',
            text: [
              'Dùng menu trong trang tên miền để nhập hoặc xuất bản ghi định dạng BIND. ' +
                'Bạn được xem trước rồi mới áp dụng.',
              'Lịch sử ghi lại người thực hiện và thời điểm của mọi thay đổi. Bạn có thể ' +
                'hoàn tác từng thay đổi.',
            ],
          },
        ],
      },
      domain: {
        title: 'Dùng tên miền riêng cho máy chủ',
        sub: 'Thêm tên miền vào máy chủ WordPress và xác minh',
        sections: [
          {
            heading: 'Thêm tên miền',
            steps: [
              'Mở máy chủ, vào mục Tên miền, chọn Thêm domain và nhập tên.',
              'Tạo bản ghi được hiển thị ở nơi quản lý tên miền: CNAME trỏ về tên máy chủ, ' +
                'bản ghi A, hoặc bản ghi TXT _portal-challenge.',
              'Chọn Xác minh. Bản ghi mới có thể mất tới một giờ.',
            ],
          },
          {
            heading: 'Khi cần bản ghi TXT',
            text: [
              'Dùng bản ghi TXT nếu tên miền này, hoặc tên miền cấp trên, từng thuộc tài ' +
                'khoản khác trong 30 ngày qua. Cũng dùng bản ghi này nếu tên miền trỏ tới địa ' +
                'chỉ dùng chung cho nhiều website.',
            ],
          },
        ],
      },
      invoice: {
        title: 'Đọc hoá đơn',
        sub: 'Ý nghĩa của các dòng và trạng thái',
        sections: [
          {
            heading: 'Trạng thái',
            terms: [
              ['Đã thanh toán', 'Không còn khoản nào phải trả.'],
              [
                'Chưa thanh toán',
                'Hãy nạp ví. Các hoá đơn được tự động thanh toán, cũ nhất trước.',
              ],
            ],
          },
          {
            heading: 'Các dòng',
            text: [
              'Mỗi dòng ghi dịch vụ, số lượng, đơn giá và kỳ. Mở một dòng trong lịch sử ' +
                'giao dịch để xem cách tính đầy đủ.',
              'Kế toán của bạn xem được bản PDF và trang hoá đơn mà không cần đăng nhập.',
            ],
          },
          {
            heading: 'Hoá đơn cho công ty',
            text: [
              'Vào Tài khoản, mục Thông tin trên hoá đơn, điền tên công ty, mã số thuế và địa ' +
                'chỉ. Mọi hoá đơn từ đó về sau sẽ ghi các thông tin này; hoá đơn đã phát hành ' +
                'giữ nguyên. Đây là chứng từ của ví trả trước, không phải hoá đơn điện ' +
                'tử (hoá đơn GTGT).',
            ],
          },
          {
            heading: 'Nếu chưa thanh toán',
            text: [
              ({ reminderDays, suspendDays, deleteDays }) =>
                `Chúng tôi nhắc ${onDays(reminderDays)}. Sau ${suspendDays} ngày, máy chủ bị ` +
                `tạm ngưng nhưng dữ liệu vẫn được giữ; sau ${deleteDays} ngày, máy ` +
                'chủ bị xoá. Nếu thanh toán trước đó, máy chủ sẽ tự động chạy lại.',
            ],
          },
        ],
      },
      support: {
        title: 'Gửi yêu cầu hỗ trợ',
        sub: 'Chúng tôi trả lời bằng tiếng Việt và tiếng Anh',
        sections: [
          {
            heading: 'Thông tin cần gửi',
            steps: [
              'Tên máy chủ hoặc tên miền, hoặc mã thanh toán.',
              'Bạn đã làm gì, mong đợi điều gì và kết quả ra sao.',
              'Mã tham chiếu trong thông báo lỗi, nếu có.',
            ],
          },
          {
            heading: 'Vui lòng không gửi',
            text: ['Mật khẩu, mã OTP hay số thẻ. Chúng tôi không bao giờ hỏi những thông tin này.'],
          },
        ],
      },
    },
  },
}

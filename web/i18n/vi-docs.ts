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
    sub: 'Cách làm những việc thường gặp nhất.',
    all: 'Tất cả trang trợ giúp',
    missing: 'Không có trang trợ giúp này.',
    write: (address) => `Gửi thư tới ${address}`,
    open: 'Mở trang hỗ trợ',
    noContact: 'Hãy trả lời bất kỳ thư hoá đơn nào chúng tôi đã gửi: thư sẽ tới bộ phận hỗ trợ.',
    pages: {
      'top-up': {
        title: 'Nạp ví',
        sub: 'Mọi dịch vụ đều được trả từ ví trả trước.',
        sections: [
          {
            heading: 'Tại Việt Nam',
            steps: [
              'Mở Nạp ví và chọn một số tiền, hoặc tự nhập.',
              'Chọn Thanh toán nội địa và cách trả: Alepay, VietQR, thẻ ATM nội địa, thẻ quốc ' +
                'tế, VN Pay hoặc chuyển khoản.',
              'Thanh toán trên trang vừa mở. Với chuyển khoản, hãy quét mã QR hoặc sao chép ' +
                'đúng số tài khoản, số tiền và mã chuyển khoản.',
              'Bạn được đưa về cổng dịch vụ. Số dư tăng ngay khi ngân hàng hoặc cổng thanh ' +
                'toán xác nhận, thường trong vài giây.',
            ],
          },
          {
            heading: 'Bằng thẻ',
            steps: [
              'Liên kết thẻ một lần ở mục Thẻ liên kết. Số thẻ được gửi tới nhà cung cấp thẻ, ' +
                'không bao giờ tới chúng tôi.',
              'Mở Nạp ví, chọn số tiền và Thẻ tín dụng, chọn thẻ rồi xác nhận.',
              'Ngân hàng có thể yêu cầu bạn xác nhận trong ứng dụng.',
            ],
          },
          {
            heading: 'Khi tiền chưa tới',
            text: [
              'Khoản thanh toán chưa được ngân hàng xác nhận sẽ hiện là đang chờ, và trang tự ' +
                'cập nhật. Tiền chỉ được cộng đúng một lần, dù bạn tải lại bao nhiêu lần.',
              'Bạn đã rời trang hướng dẫn trước khi chuyển khoản? Trang Nạp ví dẫn lại tới đó ' +
                'trong một ngày.',
              'Khoản chuyển không đọc được mã sẽ được giữ an toàn cho tới khi nhân viên đối ' +
                'soát: hãy gửi thời điểm và số tiền cho bộ phận hỗ trợ.',
            ],
          },
        ],
      },
      order: {
        title: 'Đặt máy chủ WordPress',
        sub: 'Từ lúc chọn gói tới trang đầu tiên.',
        sections: [
          {
            heading: 'Đặt hàng',
            steps: [
              'Mở WordPress và chọn Tạo WordPress.',
              'Chọn trung tâm dữ liệu, gói, ổ SSD và ổ MariaDB. Một số trung tâm dữ liệu yêu ' +
                'cầu từ 20 GB.',
              'Chọn tên và mật khẩu quản trị WordPress. Mật khẩu cần ít nhất 8 kí tự gồm chữ, ' +
                'số và một trong ! @ # $ % ^ & *.',
              'Xem tổng tiền mỗi tháng ở phần tóm tắt rồi xác nhận.',
            ],
          },
          {
            heading: 'Sau đó',
            text: [
              'Tháng đầu được trừ từ ví và máy chủ được khởi tạo, thường dưới một phút. Bạn ' +
                'có thể rời trang.',
              'Nếu số dư không đủ, đơn hàng sẽ chờ: khi bạn nạp ví, đơn được thanh toán và tự ' +
                'chạy tiếp.',
              'Nếu máy chủ không khởi tạo được, đơn bị huỷ và tiền trở lại ví.',
            ],
          },
          {
            heading: 'Về sau',
            text: [
              'Ổ đĩa hoặc gói lớn hơn có hiệu lực ngay và được tính cho phần còn lại của ' +
                'tháng, theo từng giây. Gói nhỏ hơn bắt đầu từ kỳ gia hạn kế tiếp. Ổ đĩa chỉ có ' +
                'thể tăng.',
            ],
          },
        ],
      },
      dns: {
        title: 'DNS hoạt động thế nào',
        sub: 'Trỏ tên miền về máy chủ tên miền của chúng tôi và quản lý bản ghi.',
        sections: [
          {
            heading: 'Kích hoạt tên miền',
            steps: [
              'Mở DNS, chọn Tạo tên miền và nhập tên miền bạn sở hữu.',
              'Chọn Kích hoạt: hai máy chủ tên miền của tài khoản bạn sẽ hiện ra.',
              'Tại nơi đăng ký tên miền, thay toàn bộ máy chủ tên miền bằng đúng hai máy chủ này.',
              'Chọn Kiểm Tra. Thay đổi có thể mất tới 24 giờ; chúng tôi cũng tự kiểm tra ' +
                'trong 28 ngày.',
            ],
          },
          {
            heading: 'Vì sao phải đúng hai máy chủ này',
            text: [
              'Mỗi tài khoản có một cặp riêng. Thấy đúng cặp đó ở tên miền cấp trên là bằng ' +
                'chứng tên miền thuộc về bạn. Máy chủ khác đứng cạnh sẽ trả lời bằng bản ghi ' +
                'khác.',
            ],
          },
          {
            heading: 'Nếu kiểm tra không đạt',
            terms: [
              [
                'Chưa đăng ký',
                'Tên miền cấp trên không biết tên này. Hãy xem lại chính tả, hoặc đăng ký trước.',
              ],
              ['Máy chủ khác', 'Nhà đăng ký vẫn ghi các máy chủ cũ. Hãy thay chúng.'],
              [
                'Thừa máy chủ',
                'Có máy chủ của chúng tôi nhưng còn máy chủ khác. Hãy xoá các máy chủ khác.',
              ],
              [
                'Chưa trả lời',
                'Tên miền cấp trên đã ghi đúng máy chủ nhưng máy chủ của chúng tôi chưa nhận. ' +
                  'Hãy kiểm tra lại sau một phút.',
              ],
              [
                'Bản ghi DS cũ',
                'Nhà đăng ký còn khoá DNSSEC của nhà cung cấp trước. Hãy xoá bản ghi DS ở đó.',
              ],
              [
                'Đuôi dùng chung',
                'Những tên như com.vn là của mọi người: hãy nhập tên riêng của bạn dưới đuôi đó.',
              ],
            ],
          },
          {
            heading: 'Trỏ về máy chủ của bạn',
            text: [
              'Trong trang tên miền, mở menu và chọn Trỏ về máy chủ WordPress: bản ghi được ' +
                'tạo và máy chủ trả lời trên tên miền và www. Những gì có trước đó lấy lại được ' +
                'bằng Hoàn tác.',
            ],
          },
        ],
      },
      'dns-records': {
        title: 'Hướng dẫn các loại bản ghi',
        sub: 'Mỗi loại dùng để làm gì, kèm ví dụ.',
        sections: [
          {
            heading: 'Các loại',
            terms: [
              ['A', 'Địa chỉ IPv4 của một tên. Ví dụ: @ → 203.0.113.7'],
              ['AAAA', 'Địa chỉ IPv6 của một tên. Ví dụ: @ → 2001:db8::7'],
              [
                'CNAME',
                'Tên khác của một tên, đứng một mình và không dùng cho tên miền gốc. Ví dụ: ' +
                  'www → example.com',
              ],
              [
                'MX',
                'Máy chủ nhận thư, kèm độ ưu tiên: số nhỏ được thử trước. Ví dụ: @ → 10 ' +
                  'mail.example.com',
              ],
              [
                'TXT',
                'Nội dung để bên khác đọc, như SPF hay bằng chứng sở hữu. Ví dụ: @ → v=spf1 ' +
                  'include:example.com ~all',
              ],
              [
                'NS',
                'Giao một tên miền con cho máy chủ tên miền khác. Ví dụ: lab → ns1.example.net',
              ],
            ],
          },
          {
            heading: 'Tên và thời gian nhớ',
            text: [
              '@ là chính tên miền, * là mọi tên không có bản ghi riêng.',
              'TTL là số giây mà bên khác được nhớ câu trả lời: 300 là giá trị tốt, nên hạ ' +
                'xuống trước khi chuyển máy chủ.',
              'Các bản ghi cùng tên và cùng loại là một tập có chung TTL: TTL lưu sau cùng áp ' +
                'dụng cho tất cả, và biểu mẫu báo trước điều đó.',
              'Nội dung được chép kèm dấu ngoặc kép, như "v=spf1 -all", được lưu không kèm ' +
                'dấu ngoặc.',
            ],
          },
          {
            heading: 'Nhập và xuất',
            text: [
              'Menu trong trang tên miền nhận tệp vùng định dạng BIND, cho xem trước các thay ' +
                'đổi, và xuất được tệp vùng.',
              'Mọi thay đổi được lưu trong lịch sử kèm người làm và thời điểm, và có thể hoàn tác.',
            ],
          },
        ],
      },
      domain: {
        title: 'Dùng tên miền riêng cho máy chủ',
        sub: 'Thêm tên miền vào máy chủ WordPress và xác minh.',
        sections: [
          {
            heading: 'Thêm tên miền',
            steps: [
              'Mở máy chủ, vào mục Domain, chọn Thêm domain và nhập tên.',
              'Tạo bản ghi được hiển thị ở nơi quản lý tên miền: CNAME về tên của máy chủ, ' +
                'bản ghi A, hoặc bản ghi TXT _portal-challenge.',
              'Chọn Xác minh. Bản ghi mới có thể cần vài phút mới thấy được.',
            ],
          },
          {
            heading: 'Khi chỉ tính bản ghi TXT',
            text: [
              'Nếu tên này, hoặc tên cấp trên của nó, thuộc về tài khoản khác trong 30 ngày ' +
                'qua, hoặc trỏ tới địa chỉ dùng chung cho nhiều website, chỉ bản ghi TXT mới ' +
                'chứng minh tên thuộc về bạn.',
            ],
          },
        ],
      },
      invoice: {
        title: 'Đọc hoá đơn',
        sub: 'Ý nghĩa của các dòng và trạng thái.',
        sections: [
          {
            heading: 'Trạng thái',
            terms: [
              ['Đã thanh toán', 'Không còn khoản nào phải trả.'],
              [
                'Chưa thanh toán',
                'Số tiền còn thiếu chờ ví của bạn: khi nạp ví, các hoá đơn được trả từ cũ nhất.',
              ],
            ],
          },
          {
            heading: 'Các dòng',
            text: [
              'Mỗi dòng nêu khoản được tính, số lượng, đơn giá và kỳ. Trong nhật ký giao ' +
                'dịch, mỗi dòng mở ra phép tính với mọi con số đã dùng.',
              'Bản PDF và trang hoá đơn xem được mà không cần đăng nhập, tiện cho kế toán.',
            ],
          },
          {
            heading: 'Hoá đơn cho công ty',
            text: [
              'Vào Tài khoản, mục Thông tin trên hoá đơn, điền tên công ty, mã số thuế và địa ' +
                'chỉ. Mọi hoá đơn từ đó về sau sẽ ghi các thông tin này; hoá đơn đã phát hành ' +
                'giữ nguyên tên cũ. Đây là chứng từ của ví trả trước, không phải hoá đơn điện ' +
                'tử (hoá đơn GTGT).',
            ],
          },
          {
            heading: 'Nếu chưa thanh toán',
            text: [
              ({ reminderDays, suspendDays, deleteDays }) =>
                `Chúng tôi nhắc ${onDays(reminderDays)}. Sau ${suspendDays} ngày máy chủ bị ` +
                `tạm ngưng nhưng giữ dữ liệu, sau ${deleteDays} ngày bị xoá. Thanh toán bất ` +
                'kỳ lúc nào trước đó, máy chủ tự chạy lại.',
            ],
          },
        ],
      },
      support: {
        title: 'Gửi yêu cầu hỗ trợ',
        sub: 'Chúng tôi trả lời bằng tiếng Việt và tiếng Anh.',
        sections: [
          {
            heading: 'Thông tin giúp chúng tôi hỗ trợ nhanh',
            steps: [
              'Tên máy chủ hoặc tên miền, hoặc mã thanh toán.',
              'Bạn đã làm gì, mong đợi điều gì và thấy điều gì.',
              'Mã tham chiếu trong thông báo lỗi, nếu có.',
            ],
          },
          {
            heading: 'Xin đừng gửi',
            text: ['Mật khẩu, mã OTP hay số thẻ: chúng tôi không bao giờ hỏi những thông tin này.'],
          },
        ],
      },
    },
  },
}

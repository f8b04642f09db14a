/** Tiếng Việt: chuyển một trang web từ nơi khác về máy chủ. */
import type { enMoveIn } from './en-move-in.ts'

export const viMoveIn: typeof enMoveIn = {
  moveIn: {
    title: 'Chuyển website về',
    about:
      'Chuyển một trang WordPress từ nhà cung cấp khác về đây. Hệ thống dựng một bản sao bên ' +
      'cạnh máy chủ này, so từng trang với bản gốc, rồi bạn quyết định khi nào chuyển hẳn sang.',
    closed: 'Bạn có thể chuyển website về khi máy chủ đang chạy.',
    files: 'Các tệp của website',
    filesHint:
      'Chọn gói do plugin xuất ra, hoặc wp-content kèm bản xuất cơ sở dữ liệu, gộp chung hay ' +
      'tách thành nhiều tệp đều được.',
    choose: 'Chọn tệp',
    chosen: (count, size) => `${count} tệp, ${size}`,
    drop: 'Hoặc kéo thả vào đây',
    reads: 'Những gì có thể chuyển về',
    readsList: [
      'Bản sao lưu tải từ trang quản lý này, hoặc từ một trang quản lý cùng loại',
      'Tệp zip hoặc tar.gz chứa wp-content, kèm bản xuất MySQL hoặc MariaDB (.sql hoặc .sql.gz)',
      'UpdraftPlus: cơ sở dữ liệu và mọi tệp zip của cùng một lần sao lưu',
      'Duplicator: gói ở dạng zip',
      'All-in-One WP Migration: .wpress',
    ],
    readsNot:
      'Chưa đọc được: gói có mã hoá, tệp .daf của Duplicator, rar, 7z và mạng nhiều trang ' +
      '(multisite).',
    origin: 'Địa chỉ hiện tại của website',
    optional: 'không bắt buộc',
    originHint: 'Dùng để so sánh. Nếu bỏ trống, hệ thống dùng địa chỉ lưu trong website.',
    upload: 'Tải lên',
    uploading: 'Đang tải lên',
    uploaded: (done, total) => `${done} trên ${total}`,
    keepOpen: 'Vui lòng giữ trang này mở. Nếu mất kết nối, việc tải lên sẽ tự tiếp tục.',
    goOn: (done, total) => `Đã nhận ${done} trên ${total}`,
    goOnHint: 'Hãy chọn lại đúng các tệp cũ, việc tải lên sẽ tiếp tục từ chỗ đã dừng.',
    otherFiles: 'Đây không phải các tệp của lần tải lên đang dở.',
    waiting: 'Mất kết nối. Đang thử lại…',
    cancel: 'Huỷ',
    cancelTitle: 'Huỷ lần chuyển này?',
    cancelText: 'Dữ liệu đã tải lên sẽ bị xoá. Máy chủ vẫn giữ nguyên.',
    failedUpload: 'Việc tải lên đã dừng.',
    steps: {
      unpack: 'Kiểm tra và giải nén tệp',
      database: 'Nạp cơ sở dữ liệu',
      upgrade: 'Chuẩn bị WordPress',
      addresses: 'Đổi các địa chỉ',
      compare: 'So sánh các trang',
    },
    building: 'Đang dựng bản sao',
    buildingHint: 'Bạn có thể rời trang này. Khách truy cập không bị ảnh hưởng.',
    ready: 'Bản sao đã sẵn sàng',
    readyHint: (time) =>
      `Máy chủ chưa có gì thay đổi. Bản sao được giữ đến ${time} và tính vào dung lượng ổ đĩa.`,
    maker: 'Loại gói',
    makers: {
      portal: 'Bản sao lưu của trang quản lý này',
      updraftplus: 'Bản sao lưu UpdraftPlus',
      duplicator: 'Gói Duplicator',
      'all-in-one': 'Gói All-in-One WP Migration',
      files: 'Tệp và bản xuất cơ sở dữ liệu',
    },
    home: 'Địa chỉ gốc',
    version: 'WordPress của bản gốc',
    holds: 'Nội dung',
    counts: (files, size, tables, rows) => `${files} tệp (${size}), ${tables} bảng, ${rows} dòng`,
    admins: 'Quản trị viên',
    adminsHint: 'Mật khẩu giữ nguyên như ở bản gốc.',
    noAdmins: 'Không có: chỉ có thể vào wp-admin bằng nút phía trên.',
    notes: 'Điều cần biết',
    note: {
      links_left_out: (detail) => `Đã bỏ qua ${detail} liên kết: chỉ chuyển tệp.`,
      names_odd: (detail) => `${detail} tên tệp không đọc được chính xác.`,
      dropins_left_out: (detail) => `Đã bỏ qua vì thuộc về nhà cung cấp cũ: ${detail}.`,
      root_left_out: (detail) => `Đã bỏ qua các chương trình nằm cạnh WordPress: ${detail}.`,
      statements_left_out: (detail) =>
        `Đã bỏ qua những phần WordPress không cần trong bản xuất cơ sở dữ liệu: ${detail}.`,
      tables_left_out: (detail) => `Đã bỏ qua các bảng của chương trình khác: ${detail}.`,
      rows_left_out: (detail) => `${detail} dòng trong cơ sở dữ liệu không đọc được.`,
      rows_changed: (detail) => `${detail} giá trị đã được chỉnh cho hợp với cột.`,
      plugins_missing: (detail) => `Các plugin đang bật nhưng không có trong gói: ${detail}.`,
      theme_missing: (detail) => `Giao diện ${detail} không có trong gói.`,
    },
    problem: {
      unknown_format: () =>
        'Hệ thống không nhận ra loại tệp này. Xem danh sách những gì có thể chuyển về ở dưới.',
      damaged: (detail) => `Gói bị hỏng${detail === '' ? '' : `: ${detail}`}.`,
      encrypted: () => 'Gói đã mã hoá. Hãy xuất một gói không đặt mật khẩu.',
      leads_outside: (detail) =>
        `Gói chứa một tên dẫn ra ngoài website: ${detail}. Gói đã bị từ chối.`,
      name_too_long: (detail) => `Một tên tệp quá dài: ${detail}`,
      too_large: () =>
        'Ổ đĩa của máy chủ không đủ chỗ cho website bên cạnh những gì đang có. Hãy tăng dung ' +
        'lượng trước.',
      bomb: (detail) => `Một tệp giải nén ra lớn hơn nhiều so với một website: ${detail}`,
      too_many_files: () => 'Gói chứa hơn 200.000 tệp.',
      no_content: () =>
        'Không tìm thấy wp-content trong các tệp. Hãy thêm thư mục này, gồm giao diện, plugin và ' +
        'tệp tải lên.',
      no_database: () =>
        'Không tìm thấy cơ sở dữ liệu trong các tệp. Hãy thêm bản xuất (.sql hoặc .sql.gz).',
      no_tables: () => 'Bản xuất cơ sở dữ liệu không có các bảng của một trang WordPress.',
      several_sites: (detail) =>
        `Cơ sở dữ liệu chứa nhiều website (${detail}). Hãy xuất riêng một website.`,
      multisite: () => 'Đây là mạng nhiều trang (multisite), hiện chưa chuyển về được.',
      statement_too_long: () => 'Bản xuất cơ sở dữ liệu có một câu lệnh quá dài.',
      database_refused: (detail) => `Không nạp được cơ sở dữ liệu: ${detail}`,
      not_answering: () => 'Không dựng được bản sao. Vui lòng thử lại sau.',
      backup_failed: () =>
        'Không sao lưu được máy chủ trước khi chuyển, nên chưa có gì thay đổi. Vui lòng thử lại.',
      switch_failed: () => 'Chuyển không thành công. Máy chủ vẫn như trước.',
    },
    failed: 'Chưa chuyển được website về',
    unchanged: 'Máy chủ vẫn như trước.',
    pages: 'So sánh từng trang',
    pagesHint: (same, all) => `${same} trên ${all} trang giống nhau.`,
    unreachable:
      'Không truy cập được bản gốc nên không có gì để so sánh. Bạn vẫn có thể chuyển hẳn sang ' +
      'bản sao.',
    page: 'Trang',
    original: 'Bản gốc',
    copy: 'Bản sao',
    result: 'Kết quả',
    none: 'không phản hồi',
    verdict: {
      same: 'Giống nhau',
      status: 'Khác trạng thái',
      title: 'Khác tiêu đề',
      text: 'Khác nội dung',
      unknown: 'Chưa so sánh',
    },
    likeness: (percent) => `${percent}% nội dung giống nhau`,
    switchOver: 'Chuyển sang bản sao',
    discard: 'Bỏ bản sao',
    switchTitle: 'Chuyển hẳn sang bản sao?',
    switchText: (name) =>
      `Hệ thống sao lưu ${name}, sau đó tệp và cơ sở dữ liệu của máy chủ được thay bằng bản sao. ` +
      'Đơn hàng, bình luận và bài viết đến trước lúc đó chỉ còn trong bản sao lưu.',
    switching: 'Đang chuyển',
    switchingHint: 'Sao lưu trước, chuyển sau. Máy chủ sẽ ngừng trong vài giây.',
    done: 'Website đã chuyển về',
    doneAt: (time) => `Đã chuyển lúc ${time}.`,
    undo: 'Hoàn tác',
    undoUntil: (time) => `Có thể hoàn tác đến ${time}.`,
    undoTitle: 'Đưa máy chủ về như trước?',
    undoText: (name) =>
      `${name} sẽ trở lại như trước khi chuyển. Những gì được ghi từ lúc đó đến nay sẽ mất.`,
    undoBegun: 'Đang đưa máy chủ về như trước.',
    undone:
      'Lần chuyển gần nhất đã được hoàn tác: máy chủ trở về bản sao lưu trước đó. Thẻ Sao lưu ' +
      'cho biết khi nào xong.',
    again: 'Chuyển website khác về',
    next: 'Tiếp theo: vào wp-admin, xem lại trang web, rồi thêm tên miền ở thẻ Tên miền.',
  },
}

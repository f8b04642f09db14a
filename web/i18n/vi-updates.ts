import type { enUpdates } from './en-updates.ts'

export const viUpdates: typeof enUpdates = {
  updates: {
    title: 'Cập nhật',
    about:
      'Mỗi lần cập nhật đều bắt đầu bằng một bản sao lưu. Mười trang và việc đăng nhập wp-admin ' +
      'được kiểm tra trước và sau; nếu có gì hỏng, tệp và cơ sở dữ liệu sẽ trở về như cũ.',
    look: 'Kiểm tra ngay',
    lookedAt: (time) => `Kiểm tra lần cuối ${time}`,
    neverLooked: 'Chưa kiểm tra. Hệ thống sẽ tự kiểm tra trong vòng mười phút.',
    closed: 'Chỉ cập nhật được khi máy chủ đang chạy.',
    off: 'Hệ thống này không tìm bản cập nhật. Vui lòng liên hệ nhà cung cấp.',
    upToDate: 'Mọi thứ đều là phiên bản mới nhất.',
    newer: (count) => `Có ${count} bản cập nhật`,
    all: 'Cập nhật tất cả',
    one: 'Cập nhật',
    oneOf: (name, version) => `Cập nhật ${name} lên ${version}`,
    begun: 'Đã bắt đầu cập nhật.',
    kinds: { core: 'WordPress', plugin: 'Plugin', theme: 'Giao diện' },
    inactive: 'Đang tắt',
    security: 'Bảo mật',
    newestLabel: 'Mới nhất',
    available: (version) => `Đã có phiên bản ${version}`,
    needs: {
      php: (version) => `Phiên bản ${version} cần PHP mới hơn PHP của máy chủ này.`,
      wordpress: (version) => `Phiên bản ${version} cần cập nhật WordPress trước.`,
    },
    undoneBefore: (version) => `Phiên bản ${version} từng bị hoàn tác ở đây.`,
    confirmTitle: 'Cập nhật ngay?',
    confirmText: (count) =>
      `Sẽ cài ${count} bản cập nhật. Khách vẫn xem trang bình thường. Biểu mẫu, đơn hàng và đăng ` +
      'nhập sẽ chờ đến khi xong, thường chưa đến một phút.',
    confirmUndone: 'Phiên bản này từng bị hoàn tác ở đây. Nhiều khả năng nó sẽ lại bị hoàn tác.',
    confirm: 'Cập nhật ngay',
    running: {
      waiting: 'Đang tải tệp',
      saving: 'Đang sao lưu',
      updating: 'Đang cài đặt',
      checking: 'Đang kiểm tra các trang',
      rolling_back: 'Đang khôi phục như cũ',
    },
    runningTitle: (names) => `Đang cập nhật ${names}`,
    runningHint: 'Bạn có thể rời trang này. Biểu mẫu và đăng nhập sẽ chờ đến khi xong.',
    policyTitle: 'Tự động cập nhật',
    policyAbout:
      'Áp dụng cho plugin và giao diện. Bản vá bảo mật của chính WordPress luôn được cài.',
    policies: {
      security: ['Chỉ bảo mật', 'Các bản vá lỗ hổng bảo mật. Khuyên dùng.'],
      all: ['Tất cả', 'Mọi phiên bản mới của plugin và giao diện.'],
      none: ['Không', 'Bạn tự cập nhật plugin và giao diện.'],
    },
    policySaved: 'Đã đổi cách tự động cập nhật.',
    next: (time) => `Lần tự động cập nhật tới: ${time}, vào ban đêm tại nơi đặt máy chủ.`,
    history: 'Lịch sử',
    noHistory: 'Chưa có lần cập nhật nào.',
    more: 'Xem cũ hơn',
    ends: {
      done: 'Đã cài',
      rolled_back: 'Đã hoàn tác',
      failed: 'Không cài được',
      skipped: 'Bỏ qua',
      waiting: 'Đang thực hiện',
      saving: 'Đang thực hiện',
      updating: 'Đang thực hiện',
      checking: 'Đang thực hiện',
      rolling_back: 'Đang thực hiện',
    },
    causes: { owner: 'Bạn thực hiện', automatic: 'Tự động', wave: 'Nhà cung cấp thực hiện' },
    compared: (count) => `đã kiểm tra ${count} trang`,
    reasons: {
      pages_differ:
        'Sau khi cập nhật, trang web không còn như trước nên chúng tôi đã khôi phục lại như cũ.',
      backup_failed:
        'Không tạo được bản sao lưu trước khi cập nhật nên chưa có gì thay đổi. Vui lòng thử lại.',
      slow_backup:
        'Việc sao lưu mất quá nhiều thời gian nên chưa có gì thay đổi. Vui lòng liên hệ hỗ trợ.',
      no_room: 'Ổ đĩa không đủ chỗ nên chưa có gì thay đổi. Hãy dọn bớt hoặc tăng dung lượng.',
      package_unusable: 'Tệp tải về không đúng như công bố nên không được cài đặt.',
      directory_unavailable:
        'Thư mục WordPress không phản hồi nên chưa có gì thay đổi. Vui lòng thử lại sau.',
      not_running: 'Máy chủ lúc đó không chạy.',
      busy: 'Lúc đó có một lần cập nhật khác đang diễn ra.',
      withdrawn: 'Phiên bản này đã bị thu hồi hoặc đã được cài rồi.',
      not_rolled_back:
        'Cập nhật bị lỗi và không khôi phục được. Bản sao lưu trước khi cập nhật vẫn nằm trong ' +
        'mục Sao lưu. Nhân viên của chúng tôi đã được báo.',
      wave_stopped: 'Nhà cung cấp đã dừng bản cập nhật này cho mọi trang.',
      node_lost:
        'Máy chủ vật lý gặp sự cố trong lúc cập nhật. Máy chủ của bạn đã được khôi phục trên một ' +
        'máy khác từ bản sao lưu.',
      unexpected: 'Trang web không phản hồi trước khi cập nhật nên chưa có gì thay đổi.',
    },
    differences: {
      status: (path, before, after) => `${path} trả về mã ${after} thay vì ${before}.`,
      title: (path, before, after) => `Tiêu đề của ${path} đổi từ “${before}” thành “${after}”.`,
      text: (path) => `Phần lớn nội dung của ${path} bị thay đổi hoặc biến mất.`,
      unreachable: (path) => `${path} không phản hồi.`,
      sign_in: 'Không đăng nhập được vào wp-admin.',
      database: 'WordPress không nâng cấp được cơ sở dữ liệu.',
      package: (name) => `Không cài được ${name}.`,
    },
    moreDifferences: (count) => `Và ${count} điểm khác nữa.`,
  },
}

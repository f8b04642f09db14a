import type { enSftp } from './en-sftp.ts'

export const viSftp: typeof enSftp = {
  sftp: {
    title: 'SFTP',
    hint:
      'Dùng khi cần truyền nhiều tệp cùng lúc bằng phần mềm như FileZilla, Cyberduck hoặc ' +
      'WinSCP. Bạn đăng nhập bằng khoá SSH, không dùng mật khẩu.',
    off: 'Nhà cung cấp của bạn chưa hỗ trợ SFTP ở đây.',
    host: 'Máy chủ',
    port: 'Cổng',
    user: 'Tên đăng nhập',
    fingerprint: 'Dấu vân tay của máy chủ',
    fingerprintHint: 'Phần mềm hiển thị mã này ở lần kết nối đầu tiên; hai mã phải trùng nhau.',
    keys: 'Các khoá được phép truy cập',
    keysHint: 'Ai có một trong các khoá này đều đọc và sửa được mọi tệp của máy chủ.',
    noKeys: 'Chưa có khoá nào. Hãy thêm khoá công khai của máy tính bạn để kết nối.',
    add: 'Thêm khoá',
    addTitle: 'Thêm khoá SSH',
    name: 'Tên',
    nameHint: 'Ví dụ: tên máy tính chứa khoá.',
    key: 'Khoá công khai',
    keyHint: 'Nguyên dòng trong tệp .pub. Nếu chưa có, hãy chạy: ssh-keygen -t ed25519',
    added: (name) => `Đã cho phép ${name} truy cập tệp.`,
    remove: (name) => `Xoá ${name}`,
    removeTitle: (name) => `Xoá ${name}?`,
    removeText: 'Phần mềm đang dùng khoá này sẽ bị ngắt kết nối sau vài giây.',
    removed: (name) => `${name} không còn truy cập được các tệp này.`,
    usedAt: (when, from) => `Dùng lần cuối ${when} từ ${from}`,
    neverUsed: (when) => `Đã thêm ${when}, chưa dùng lần nào`,
  },
}

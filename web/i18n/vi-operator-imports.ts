import type { DeskImportTexts, enImportActs } from './en-operator-imports.ts'

export const viDeskImports: DeskImportTexts = {
  open: 'Nhập khách hàng',
  title: 'Nhập khách hàng',
  sub: 'Từ WHMCS hoặc hệ thống khác: tài khoản và số dư, bằng tệp CSV.',
  back: 'Tất cả khách hàng',
  file: 'Tệp CSV',
  fileHint:
    'Dòng tiêu đề có cột email và region (VN, AUD, USD, EURO) hoặc currency; ngoài ra có thể có ' +
    'name, phone, language, balance và reference. Chưa có gì được tạo.',
  look: 'Xem trước',
  none: 'Hãy chọn tệp trước.',
  preview: 'Xem trước',
  nothingYet: 'Chưa có gì được tạo.',
  rows: (n) => `${n} dòng`,
  accounts: 'Tài khoản sẽ được tạo',
  skipped: 'Bỏ qua: khách hàng đã có ở đây',
  withoutPhone: 'Không có số điện thoại',
  balances: (currency) => `Số dư bằng ${currency}`,
  ofAccounts: (n) => `${n} tài khoản`,
  ignored: 'Cột bị bỏ qua',
  line: (n) => `Dòng ${n}`,
  bad: (n) => `${n} dòng có lỗi: không thể nhập.`,
  badMore: (n) => `và ${n} dòng khác`,
  allKnown: 'Mọi khách hàng trong tệp đều đã có tài khoản: không có gì để nhập.',
  needsSecond: 'Số dư vượt hạn mức: cần người thứ hai duyệt.',
  start: 'Nhập',
  list: 'Các lần nhập',
  empty: 'Chưa nhập lần nào.',
  by: (name, when) => `${name} · ${when}`,
  progress: (done, all) => `${done}/${all}`,
  running: 'Đang chạy',
  done: 'Hoàn tất',
  stopped: 'Đã dừng',
  stoppedWhy:
    'Đã dừng: cổng được cập nhật và đọc tệp này khác với nội dung đã duyệt. Hãy xem trước và ' +
    'nhập lại tệp: những khách hàng đã có ở đây sẽ được bỏ qua.',
  created: (n) => `đã tạo ${n} tài khoản`,
  skippedOf: (n) => `bỏ qua ${n}`,
  phonesLost: (n) => `${n} tài khoản không có số điện thoại: số đã thuộc tài khoản khác`,
  written: (n) => `đã gửi ${n} thư`,
  came: (came, all) => `${came}/${all} khách đã đặt mật khẩu`,
  reference: (reference) => `mã cũ ${reference}`,
  notYet: 'Chưa đặt mật khẩu',
}

export const viImportActs: typeof enImportActs = {
  names: {
    'customers.import': 'Nhập khách hàng',
    'customers.invite': 'Gửi thư mời',
  },
  explain: {
    'customers.import':
      'Tài khoản được tạo kèm số dư. Chưa ai đăng nhập được cho đến khi khách đặt mật khẩu ' +
      'bằng mã chúng tôi gửi qua email.',
    'customers.invite':
      'Khách hàng của lần nhập này chưa đặt mật khẩu sẽ nhận thư (kể cả khi đã nhận trước đó); ' +
      'tối đa một lần trong 24 giờ.',
  },
  fields: {
    letters: 'Gửi thư mời từng khách hàng đặt mật khẩu?',
    lettersHint: 'Bạn cũng có thể gửi sau. Hơn 500 thư cần người thứ hai duyệt.',
  },
  facts: {
    accounts: 'Tài khoản',
    skipped: 'Bỏ qua',
    letters: 'Thư',
    VND: 'Số dư bằng VND',
    AUD: 'Số dư bằng AUD',
    USD: 'Số dư bằng USD',
    EUR: 'Số dư bằng EUR',
  },
}

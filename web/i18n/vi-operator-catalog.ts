import type { enCatalogActs, enDeskCatalog } from './en-operator-catalog.ts'

/** Trang vận hành về những gì đang bán. */
export const viDeskCatalog: typeof enDeskCatalog = {
  title: 'Danh mục',
  sub: 'Bán gì, ở đâu, với giá nào.',
  edit: 'Sửa',
  draft: 'Tiếp tục bản nháp',
  back: 'Về danh mục',
  version: (n) => `Phiên bản ${n}`,
  plans: 'Gói',
  disks: 'Ổ đĩa, giá mỗi GB/tháng',
  dataCentres: 'Trung tâm dữ liệu',
  ssdPerGb: 'Ổ SSD',
  mariadbPerGb: 'Ổ MariaDB',
  sold: 'Đang bán',
  notSold: 'Ngừng bán',
  size: (cpu, ramGb, mail) => `${cpu} CPU · ${ramGb} GB RAM · ${mail} email mỗi giờ`,
  from: (disk) => `ổ đĩa từ ${disk} GB`,
  instead: (price) => `giá gốc ${price}`,
  waits: (when, who) => `Một phiên bản của ${who} đang chờ và có hiệu lực từ ${when}.`,
  couldNot: (when, who) =>
    `Phiên bản của ${who} dự kiến từ ${when} đã không có hiệu lực: gói và giá đang bán đã thay ` +
    'đổi từ khi phiên bản được lập.',
  files: {
    former: (origin) => `Tệp của ${origin} là bản cũ và không được dùng.`,
    would_take_back: (origin) =>
      `Tệp của ${origin} khác với nội dung đã công bố tại đây và không được dùng.`,
    in_use: () => '',
  },
  fileHow: 'npm run portal -- catalog diff, show hoặc use',
  versions: 'Các phiên bản',
  sources: { file: 'Tệp', use: 'Tệp, qua lệnh', desk: 'Trang vận hành' },
  approved: (name) => `${name} đã duyệt`,
  restores: (n) => `khôi phục phiên bản ${n}`,
  unreadable: 'Phần mềm hiện tại không đọc được.',
  first: 'Phiên bản đầu tiên.',
  same: 'Gói và giá giống phiên bản trước.',
  lines: (n) => `${n} thay đổi`,
  sellAgain: 'Khôi phục phiên bản này',
  inUse: 'Đang dùng',
  editor: {
    title: 'Sửa danh mục',
    sub: (n) => `Bản nháp dựa trên phiên bản ${n}, lưu trong tab trình duyệt này đến khi công bố.`,
    copy: 'Tạo gói mới từ gói này',
    copyName: (name) => `Bản sao của ${name}`,
    newCentre: 'Thêm trung tâm dữ liệu',
    remove: 'Bỏ',
    isNew: 'Mới',
    mirrorHint: 'Bật: mỗi máy chủ có một bản sao đồng bộ trên node thứ hai, chiếm chỗ tương đương.',
    stopHint: 'Tắt: không ai đặt mua được nữa. Khách đang dùng giữ nguyên gói và giá.',
    stopCentreHint: 'Tắt: không ai đặt máy chủ ở đây nữa. Máy chủ đang chạy vẫn hoạt động.',
    look: 'Xem những gì thay đổi',
    discard: 'Bỏ bản nháp',
    faults: 'Một số trường chưa hợp lệ.',
    outdated: (n) =>
      `Phiên bản ${n} đã có hiệu lực, còn bản nháp này dựa trên phiên bản cũ hơn. Hãy bỏ bản ` +
      'nháp và bắt đầu lại.',
  },
  fields: {
    name: 'Tên',
    cpu: 'CPU',
    ram: 'RAM (MB)',
    mailAnHour: 'Email mỗi giờ',
    mirrored: 'Bản sao đồng bộ',
    price: 'Giá',
    sale: 'Giá khuyến mãi',
    country: 'Quốc gia (hai chữ cái)',
    minDiskGb: 'Ổ đĩa nhỏ nhất (GB)',
    sold: 'Đang bán',
    new: 'mới',
    gone: 'đã bỏ',
  },
  of: { plan: '', disk: '', dataCentre: 'trung tâm dữ liệu' },
  preview: {
    title: 'Những gì thay đổi',
    undo: (n) => `Khôi phục phiên bản ${n}`,
    proposed: 'Nội dung đang chờ duyệt',
    countsFrom: 'Có hiệu lực từ',
    countsFromHint: 'Để trống: ngay bây giờ. Theo múi giờ của bạn.',
    changes: 'Từng thay đổi',
    nothing: 'Không có thay đổi.',
    prices: 'Khách hàng bị đổi giá',
    nobody: (n) => `Không ai bị đổi giá, trong số ${n} gói dịch vụ đang chạy.`,
    ofRunning: (n) => `Trong số ${n} gói dịch vụ đang chạy.`,
    month: (currency) => `${currency} mỗi tháng`,
    monthHint: 'Tổng của các gói dịch vụ đổi giá, trước và sau',
    rises: (customers, n) => `Tăng giá: ${n} gói dịch vụ của ${customers} khách hàng`,
    falls: (customers, n) => `Giảm giá: ${n} gói dịch vụ của ${customers} khách hàng`,
    renewals: (first, last) =>
      first === last
        ? `vào lần gia hạn ngày ${first}`
        : `vào các lần gia hạn từ ${first} đến ${last}`,
    rule:
      'Giá tăng được báo qua email khi phiên bản có hiệu lực và áp dụng cho các lần gia hạn từ ' +
      '30 ngày sau đó. Giá giảm áp dụng từ lần gia hạn kế tiếp. Đơn hàng mới theo giá mới ngay.',
    kept: 'Ngừng bán',
    keeps: (plan, n) =>
      n === 0 ? `${plan}: không ai đang dùng.` : `${plan}: ${n} máy chủ giữ nguyên gói và giá.`,
    letter: 'Email gửi khách hàng',
    letterHint: 'Gửi cho từng khách hàng bị tăng giá; đây là một email trong số đó.',
    english: 'Tiếng Anh',
    vietnamese: 'Tiếng Việt',
    second: 'Có gói mới, hoặc có giá thay đổi hơn 20%: cần người thứ hai duyệt.',
    publish: 'Công bố',
    backToDraft: 'Về bản nháp',
    seeIt: 'Xem những gì thay đổi',
  },
}

export const viCatalogActs: {
  readonly [K in keyof typeof enCatalogActs]: Record<keyof (typeof enCatalogActs)[K], string>
} = {
  names: {
    'catalog.publish': 'Công bố danh mục',
    'catalog.withdraw': 'Rút lại',
  },
  explain: {
    'catalog.publish':
      'Từ thời điểm đó, đơn hàng mới tính theo giá mới. Khách hàng bị tăng giá nhận được email ' +
      'và chịu giá mới sau 30 ngày.',
    'catalog.withdraw': 'Phiên bản này sẽ không có hiệu lực. Gói và giá đang bán giữ nguyên.',
  },
  facts: {
    changes: 'Thay đổi',
    version: 'Phiên bản',
    countsAt: 'Có hiệu lực từ',
    restores: 'Phiên bản khôi phục',
    waits: 'Đang chờ',
  },
}

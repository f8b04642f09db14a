import type { enPaas } from './en-paas.ts'

export const viPaas: typeof enPaas = {
  paas: {
    title: 'Dịch vụ nền tảng',
    sub: 'Dịch vụ web được dựng từ kho mã nguồn.',
    create: 'Tạo dự án',
    sample: 'Mẫu',
    sampleNote:
      'Các dòng này là dữ liệu mẫu, minh hoạ nội dung của trang; mỗi dòng ứng với một máy chủ ' +
      'WordPress của bạn.',
    empty: 'Chưa có dịch vụ nào.',
    name: 'Tên',
    status: 'Trạng thái',
    type: 'Loại',
    environment: 'Môi trường',
    region: 'Khu vực',
    deployed: 'Triển khai gần nhất',
    row: {
      name: 'Dịch vụ web Docker',
      status: 'Deployed Success',
      type: 'Dịch vụ web',
      environment: 'Docker',
      region: 'Singapore',
      deployed: '2 ngày trước',
    },
    of: (server) => `bên cạnh ${server}`,
    later: {
      title: 'Chưa mở',
      text: (host) =>
        `Hiện chưa kết nối được kho mã nguồn của ${host}. Chưa có gì được kết nối, tạo mới ` +
        'hay tính phí.',
      anyHost: 'các dịch vụ Git',
    },
  },
  project: {
    title: 'Tạo dự án',
    sub: 'Dự án gom các dịch vụ thuộc về nhau.',
    name: 'Tên dự án',
    hint: "Chỉ gồm chữ thường, chữ số và dấu '-'.",
    placeholder: 'ex: project-demo',
    invalid:
      "Dùng 1 đến 63 ký tự gồm chữ thường, chữ số và dấu '-', bắt đầu và kết thúc bằng chữ " +
      'hoặc số.',
    create: 'Tạo dự án',
    connect: 'Kết nối kho mã nguồn',
    connectText: 'Mỗi lần đẩy mã lên nhánh chính sẽ thành một phiên bản mới của dịch vụ.',
    github: 'Kết nối Github',
    gitlab: 'Kết nối Gitlab',
  },
  service: {
    title: 'Tạo dịch vụ web mới',
    sub: 'Kết nối một kho Git, hoặc dùng địa chỉ của một kho công khai.',
    project: (name) => `Dự án: ${name}`,
    connect: 'Kết nối kho mã nguồn',
    repository: 'demo / docker-web-service',
    updated: 'Cập nhật 2 ngày trước',
    connectOne: 'Kết nối',
    connectOf: (name) => `Kết nối ${name}`,
    public: 'Kho Git công khai',
    publicText: 'Dùng một kho công khai theo địa chỉ của nó.',
    address: 'Địa chỉ kho',
    addressInvalid: 'Hãy nhập địa chỉ bắt đầu bằng https:// và chỉ tới một kho mã nguồn.',
    go: 'Tiếp tục',
    configure: 'Cấu hình tài khoản',
    connectAccount: 'Kết nối tài khoản',
    configureOf: (host) => `Cấu hình tài khoản: ${host}`,
    connectAccountOf: (host) => `Kết nối tài khoản: ${host}`,
    hostText: (host) => `Các kho mà ${host} cho phép xem sẽ hiện ở bên trái.`,
  },
}

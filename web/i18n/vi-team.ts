/** Vietnamese: the team of an account, and working in the account of another. */
import type { TeamTexts } from './en-team.ts'

export const viTeam: TeamTexts = {
  title: 'Nhóm',
  sub: 'Thành viên của tài khoản này và những tài khoản bạn tham gia',
  back: 'Tài khoản',
  members: 'Thành viên',
  membersSub: 'Mỗi người đăng nhập bằng tài khoản riêng. Không ai cần mật khẩu của bạn.',
  noMembers: 'Chưa có ai ngoài bạn.',
  invite: 'Mời',
  email: 'Địa chỉ email',
  emailHint: 'Một thư kèm liên kết sẽ được gửi tới đó. Liên kết có hiệu lực bảy ngày.',
  role: 'Vai trò',
  roles: {
    owner: 'Đồng chủ tài khoản',
    billing: 'Thanh toán',
    technical: 'Kỹ thuật',
    read_only: 'Chỉ xem',
  },
  roleHints: {
    owner:
      'Đặt mua, thanh toán, thay đổi và xoá mọi thứ như bạn. Mật khẩu, đăng nhập, token, nhóm và ' +
      'dữ liệu cá nhân vẫn chỉ thuộc về bạn.',
    billing:
      'Xem ví và nạp tiền, trả hoá đơn, liên kết thẻ, viết cho bộ phận hỗ trợ. Không vào máy chủ ' +
      'và tên miền.',
    technical:
      'Làm việc với máy chủ và tên miền: tệp, cơ sở dữ liệu, console, DNS, sao lưu. Không đặt ' +
      'mua, không thanh toán, không xoá máy chủ hay tên miền và không xem ví.',
    read_only: 'Xem danh sách và chi tiết, ví và hoá đơn. Không mở tệp, cơ sở dữ liệu hay console.',
  },
  technicalHint:
    'Người làm việc với tệp của trang web có thể để lại cửa hậu. Khi một thành viên rời đi, hãy ' +
    'đổi các mật khẩu WordPress.',
  onlyServers: 'Chỉ một số máy chủ',
  onlyDomains: 'Chỉ một số tên miền',
  noServers: 'Bạn chưa có máy chủ.',
  noDomains: 'Bạn chưa có tên miền.',
  limitedHint:
    'Người bị giới hạn không xem được ví, hoá đơn và yêu cầu hỗ trợ, vì ở đó có tên của mọi máy ' +
    'chủ và tên miền.',
  allServers: 'mọi máy chủ',
  allDomains: 'mọi tên miền',
  someServers: (count) => `${count} máy chủ`,
  someDomains: (count) => `${count} tên miền`,
  password: 'Mật khẩu hiện tại',
  send: 'Gửi lời mời',
  sent: 'Lời mời đang được gửi đi.',
  cancel: 'Huỷ',
  lastUsed: (when) => `Vào lần cuối ${when}`,
  neverUsed: 'Chưa vào lần nào',
  joined: (when) => `Thành viên từ ${when}`,
  change: 'Thay đổi',
  changeOf: (name) => `Thay đổi: ${name}`,
  changeTitle: (name) => `Quyền của ${name}`,
  save: 'Lưu',
  changed: 'Có hiệu lực từ thao tác tiếp theo.',
  remove: 'Xoá',
  removeOf: (name) => `Xoá: ${name}`,
  removeTitle: 'Xoá thành viên này?',
  removeText: (name) =>
    `Từ bây giờ ${name} không còn quyền truy cập. Những gì họ đã làm vẫn ở danh sách bên dưới.`,
  removed: 'Đã xoá thành viên.',
  invitations: 'Lời mời đang chờ',
  noInvitations: 'Không có lời mời nào đang chờ.',
  until: (when) => `Có hiệu lực đến ${when}`,
  takeBack: 'Thu hồi',
  takeBackOf: (email) => `Thu hồi: ${email}`,
  takeBackTitle: 'Thu hồi lời mời này?',
  takeBackText: (email) => `Liên kết trong thư gửi tới ${email} sẽ không còn dùng được.`,
  takenBack: 'Đã thu hồi lời mời.',
  acts: 'Hoạt động của thành viên',
  actsSub: 'Trong 180 ngày qua, mới nhất ở trên',
  noActs: 'Chưa có gì.',
  more: 'Xem thêm',
  gone: 'không còn nữa',
  others: 'Tài khoản bạn làm việc cùng',
  othersSub: 'Bạn vẫn đăng nhập bằng tài khoản của mình; một thanh cho biết bạn đang ở đâu.',
  noOthers: 'Chưa có. Ai mời bạn sẽ gửi một thư kèm liên kết.',
  open: 'Mở',
  openOf: (name) => `Mở: ${name}`,
  leave: 'Rời khỏi',
  leaveOf: (name) => `Rời khỏi: ${name}`,
  leaveTitle: 'Rời hẳn tài khoản này?',
  leaveText: (name) =>
    `Bạn sẽ không còn quyền truy cập “${name}”. Chủ tài khoản sẽ được thông báo.`,
  left: 'Bạn đã rời khỏi.',
  invited: (from) => `“${from}” mời bạn`,
  invitedAs: (role) => `Vai trò của bạn sẽ là: ${role}.`,
  invitedLimited: 'Quyền này chỉ áp dụng cho một số máy chủ và tên miền.',
  accept: 'Chấp nhận',
  later: 'Để sau',
  accepted: (name) => `Bạn đã là thành viên của “${name}”.`,
  handOver: 'Chuyển giao cho khách hàng khác',
  handOverSub: 'Máy chủ hoặc tên miền sang chủ khác, sau khi họ chấp nhận qua thư.',
  noHandOver: 'Chưa chuyển giao gì.',
  offer: 'Chuyển giao',
  what: 'Chuyển giao gì',
  chooseWhat: 'Chọn máy chủ hoặc tên miền',
  kinds: { server: 'Máy chủ', domain: 'Tên miền' },
  offerHint:
    'Chưa có gì thay đổi cho tới khi được chấp nhận. Phần đã trả vẫn giữ nguyên; từ kỳ gia hạn ' +
    'tới bên nhận trả tiền. Tên miền đã gắn, bản sao lưu và bản ghi đi cùng. Bạn, nhóm và token ' +
    'của bạn không còn quyền truy cập.',
  sendOffer: 'Gửi lời chuyển giao',
  offerSent: 'Thư chuyển giao đang được gửi đi.',
  offeredTo: (email) => `Đang chờ ${email} chấp nhận`,
  takenBy: (email, when) => `${email} đã nhận ngày ${when}`,
  takeOfferBackTitle: 'Thu hồi lời chuyển giao này?',
  offerTakenBack: 'Đã thu hồi.',
  isOffered: (from, name) => `“${from}” chuyển giao “${name}” cho bạn`,
  costs: (price, when) =>
    `Từ ngày ${when} máy chủ được gia hạn với giá ${price} mỗi tháng bằng ví của bạn. Trước đó ` +
    'đã được trả.',
  free: 'Tên miền không mất phí.',
  take: 'Nhận',
  taken: (name) => `“${name}” nay thuộc về bạn.`,
  accessEnded: 'Quyền truy cập vào tài khoản kia đã kết thúc. Bạn đang ở tài khoản của mình.',
  switchTo: 'Làm việc trong tài khoản khác',
  bar: 'Bạn đang ở tài khoản nào',
  inAccount: (name) => `Bạn đang ở trong tài khoản của ${name}.`,
  asRole: (role) => `Vai trò: ${role}`,
  toOwn: 'Về tài khoản của bạn',
  mayNot: {
    order: 'Việc đặt mua, nâng cấp, đổi tên và xoá dành cho chủ và đồng chủ tài khoản.',
    change: 'Vai trò của bạn trong tài khoản này chỉ xem được, không thay đổi được.',
  },
}

/** Letters that acts send. */

export const secondFactorGone = {
  en: {
    subject: 'Your second factor was removed',
    text:
      'At your request our staff removed the second factor of your account and signed out every ' +
      'device. Sign in with your password and set up a new one under Account, Security.\n' +
      'If you did not ask for this, contact us at once.',
  },
  vi: {
    subject: 'Xác thực hai lớp của bạn đã được tắt',
    text:
      'Theo yêu cầu của bạn, nhân viên của chúng tôi đã tắt xác thực hai lớp của tài khoản và ' +
      'đăng xuất mọi thiết bị. Hãy đăng nhập bằng mật khẩu và thiết lập lại trong mục Tài khoản, ' +
      'Bảo mật.\nNếu bạn không yêu cầu việc này, hãy liên hệ ngay với chúng tôi.',
  },
} as const

/** The owner has lost the former mailbox and gets another email address. */
export const emailGiven = {
  en: {
    subject: 'The email address of your account was changed',
    toFormer: (email: string) =>
      `At the request of the account’s owner our staff changed its email address to ${email}, ` +
      'and signed out every device. This address is no longer used.\n' +
      'If you did not ask for this, contact us at once.',
    toNew:
      'At your request our staff made this the email address of your account and signed out ' +
      'every device. Choose a new password with “Forgot password” on the sign-in page.\n' +
      'If you did not ask for this, contact us at once.',
  },
  vi: {
    subject: 'Địa chỉ email của tài khoản đã được thay đổi',
    toFormer: (email: string) =>
      'Theo yêu cầu của chủ tài khoản, nhân viên của chúng tôi đã đổi email của tài khoản ' +
      `thành ${email} và đăng xuất mọi thiết bị. Địa chỉ này không còn được dùng nữa.\n` +
      'Nếu bạn không yêu cầu việc này, hãy liên hệ ngay với chúng tôi.',
    toNew:
      'Theo yêu cầu của bạn, nhân viên của chúng tôi đã đặt địa chỉ này làm email của tài khoản ' +
      'và đăng xuất mọi thiết bị. Hãy đặt mật khẩu mới bằng “Quên mật khẩu” ở trang đăng nhập.\n' +
      'Nếu bạn không yêu cầu việc này, hãy liên hệ ngay với chúng tôi.',
  },
} as const

export const programsEnded = {
  en: {
    subject: 'Your API tokens and webhooks were ended',
    text:
      'To protect your account our staff revoked every API token and switched every webhook off. ' +
      'Make new tokens under Account, API and webhooks, and switch on the webhooks that you ' +
      'know.\nIf you have questions, write to us.',
  },
  vi: {
    subject: 'Token API đã bị thu hồi, webhook đã bị tắt',
    text:
      'Để bảo vệ tài khoản của bạn, nhân viên của chúng tôi đã thu hồi mọi token API và tắt ' +
      'mọi webhook. Hãy tạo token mới trong mục Tài khoản, API và webhook, rồi bật lại những ' +
      'webhook bạn nhận ra.\nNếu có thắc mắc, hãy liên hệ với chúng tôi.',
  },
} as const

export const tokenRevoked = {
  en: (name: string, begins: string) => ({
    subject: 'An API token of yours was revoked',
    text:
      `To protect your account our staff revoked the API token “${name}” (${begins}…). Programs ` +
      'that use it cannot call the API any more. Make a new one under Account, API and ' +
      'webhooks.\nIf you have questions, write to us.',
  }),
  vi: (name: string, begins: string) => ({
    subject: 'Một token API của bạn đã bị thu hồi',
    text:
      'Để bảo vệ tài khoản của bạn, nhân viên của chúng tôi đã thu hồi token API ' +
      `“${name}” (${begins}…). Ứng dụng dùng token này không gọi được API nữa. Hãy tạo token mới ` +
      'trong mục Tài khoản, API và webhook.\nNếu có thắc mắc, hãy liên hệ với chúng tôi.',
  }),
} as const

export const sessionsEnded = {
  en: {
    subject: 'You were signed out on every device',
    text:
      'To protect your account our staff signed out every device. Sign in again with your ' +
      'password, and choose a new one under Account, Security if somebody else may know it.\n' +
      'If you have questions, write to us.',
  },
  vi: {
    subject: 'Bạn đã bị đăng xuất khỏi mọi thiết bị',
    text:
      'Để bảo vệ tài khoản của bạn, nhân viên của chúng tôi đã đăng xuất mọi thiết bị. Hãy đăng ' +
      'nhập lại bằng mật khẩu, và đổi mật khẩu trong mục Tài khoản, Bảo mật nếu có thể người ' +
      'khác biết.\nNếu có thắc mắc, hãy liên hệ với chúng tôi.',
  },
} as const

/** A server that the operator suspends by hand, and one that is released. */
export const serverHeld = {
  en: (name: string, told: string) => ({
    subject: `Your server ${name} was suspended`,
    text:
      `We suspended your server ${name}. Reason: ${told}\n` +
      'Your data is kept. Please write to us so that we can release it.',
  }),
  vi: (name: string, told: string) => ({
    subject: `Máy chủ ${name} của bạn đã bị tạm ngưng`,
    text:
      `Chúng tôi đã tạm ngưng máy chủ ${name} của bạn. Lý do: ${told}\n` +
      'Dữ liệu của bạn vẫn được giữ. Vui lòng liên hệ để chúng tôi mở lại máy chủ.',
  }),
} as const
export const serverReleased = {
  en: (name: string) => ({
    subject: `Your server ${name} was released`,
    text: `Your server ${name} is no longer suspended by us. It runs again, if it is paid for.`,
  }),
  vi: (name: string) => ({
    subject: `Máy chủ ${name} của bạn đã được mở lại`,
    text:
      `Máy chủ ${name} không còn bị chúng tôi tạm ngưng. Máy chủ sẽ chạy lại nếu đã được ` +
      'thanh toán.',
  }),
} as const

/** The operator cancels a server. `back`: the amount credited to the wallet; null: none. */
export const serverCancelled = {
  en: (name: string, told: string, back: string | null) => ({
    subject: `Your server ${name} was cancelled`,
    text:
      `We cancelled your server ${name}, and it is being deleted. Reason: ${told}\n` +
      (back === null
        ? 'Nothing more is due for it.'
        : `What you paid and did not use, ${back}, is back in the wallet that paid it, with a ` +
          'credit note. Nothing more is due.'),
  }),
  vi: (name: string, told: string, back: string | null) => ({
    subject: `Máy chủ ${name} của bạn đã bị huỷ`,
    text:
      `Chúng tôi đã huỷ máy chủ ${name} của bạn và đang xoá máy chủ này. Lý do: ${told}\n` +
      (back === null
        ? 'Bạn không phải trả thêm khoản nào cho máy chủ này.'
        : `Phần đã trả nhưng chưa dùng, ${back}, đã được hoàn vào ví đã thanh toán, kèm chứng từ ` +
          'hoàn tiền. Bạn không phải trả thêm khoản nào.'),
  }),
} as const

/** An order that the operator gives up before it was delivered. */
export const orderGivenUp = {
  en: (name: string, told: string, isPaid: boolean) => ({
    subject: `We cannot deliver your server ${name}`,
    text:
      `We have to give up your order of the server ${name}. Reason: ${told}\n` +
      (isPaid
        ? 'What you paid for it goes back to your wallet within minutes, with a credit note.'
        : 'You paid nothing for it, and nothing is due.'),
  }),
  vi: (name: string, told: string, isPaid: boolean) => ({
    subject: `Chúng tôi không thể bàn giao máy chủ ${name}`,
    text:
      `Chúng tôi buộc phải huỷ đơn hàng máy chủ ${name} của bạn. Lý do: ${told}\n` +
      (isPaid
        ? 'Số tiền bạn đã trả sẽ được hoàn vào ví trong ít phút, kèm chứng từ hoàn tiền.'
        : 'Bạn chưa trả tiền cho đơn hàng này và không còn nợ khoản nào.'),
  }),
} as const

/** The language of the invited person is unknown: the letter has both. */
export const invitation = (brand: string, link: string): { subject: string; text: string } => ({
  subject: `${brand}: invitation · lời mời`,
  text:
    `You are invited to work at the operator's desk of ${brand}. Open this link within 72 hours; ` +
    'you need an authenticator app:\n' +
    `${link}\n\n` +
    `Bạn được mời làm việc tại trang vận hành của ${brand}. Hãy mở liên kết trên trong vòng 72 ` +
    'giờ; bạn cần một ứng dụng xác thực.',
})

/** A member may approve what another one proposed; staff read either language. */
export function approvalAsked(of: {
  readonly brandName: string
  readonly portalUrl: string
  readonly name: string
  readonly by: string
  readonly reason: string | null
}): { subject: string; text: string } {
  const page = `${of.portalUrl}/operator/approvals`
  const why = of.reason === null ? '' : ` “${of.reason}”`
  return {
    subject: `${of.brandName}: ${of.name} waits for approval · đang chờ duyệt`,
    text:
      `${of.by} proposed ${of.name}.${why} It is void unless somebody approves it within 24 ` +
      'hours.\n' +
      `${of.by} đề xuất ${of.name}.${why} Đề xuất hết hiệu lực nếu không ai duyệt trong 24 giờ.\n` +
      page,
  }
}

/** How a proposal ended without approval; `by` rejected it. */
export type ProposalEnd =
  | { readonly by: string; readonly why: string }
  | 'nobody approved'
  | 'account closed'

function wordsOf(how: ProposalEnd): { subject: string; en: string; vi: string } {
  if (how === 'nobody approved')
    return {
      subject: 'was not approved · không được duyệt',
      en:
        'Nobody approved it within 24 hours: it is void. Propose it again if it is still ' +
        'wanted.',
      vi:
        'Không ai duyệt trong 24 giờ nên đề xuất đã hết hiệu lực. Nếu vẫn cần, hãy đề xuất ' +
        'lại.',
    }
  if (how === 'account closed')
    return {
      subject: 'is void · đã hết hiệu lực',
      en: 'Its customer has closed the account: it is void.',
      vi: 'Khách hàng liên quan đã đóng tài khoản nên đề xuất đã hết hiệu lực.',
    }
  return {
    subject: 'was rejected · bị từ chối',
    en: `${how.by} rejected it: “${how.why}”`,
    vi: `${how.by} đã từ chối: “${how.why}”`,
  }
}

/** To the proposer of an act that ended without approval. */
export function proposalEnded(of: {
  readonly brandName: string
  readonly portalUrl: string
  readonly name: string
  readonly reason: string | null
  readonly how: ProposalEnd
}): { subject: string; text: string } {
  const { name } = of
  const { subject, en, vi } = wordsOf(of.how)
  const asked = of.reason === null ? '' : ` “${of.reason}”`
  return {
    subject: `${of.brandName}: ${name} ${subject}`,
    text:
      `You proposed ${name}.${asked} ${en}\nBạn đã đề xuất ${name}.${asked} ${vi}\n` +
      `${of.portalUrl}/operator/approvals`,
  }
}

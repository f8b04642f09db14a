/** Letters to invited persons, members and owners. */
import type { Language } from '../../contract/errors.ts'
import type { MemberRole } from '../../contract/member-roles.ts'
import { invitationDays } from '../../contract/team.ts'

interface Letter {
  readonly subject: string
  readonly text: string
}

/** The role's name within a sentence. */
const roles: Readonly<Record<Language, Readonly<Record<MemberRole, string>>>> = {
  en: {
    owner: 'co-owner',
    billing: 'billing',
    technical: 'technical',
    read_only: 'read only',
  },
  vi: {
    owner: 'đồng chủ tài khoản',
    billing: 'thanh toán',
    technical: 'kỹ thuật',
    read_only: 'chỉ xem',
  },
}

/**
 * A customer's name in a letter to a stranger: it must not become a link, nor look like a sentence
 * of ours.
 */
export const quiet = (name: string): string =>
  name
    .replace(/[^\p{L}\p{M}\p{N} .,'’&()-]/gu, ' ')
    .replace(/\.(?=\S)/g, '. ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 60)

interface Invited {
  readonly from: string
  readonly brandName: string
  readonly role: MemberRole
  readonly link: string
}
const invitedIn: Readonly<Record<Language, (of: Invited) => Letter>> = {
  en: ({ from, brandName, role, link }) => ({
    subject: `You are invited to an account at ${brandName}`,
    text:
      `“${quiet(from)}” invites you to work in their account at ${brandName} ` +
      `(role: ${roles.en[role]}).\n` +
      'Open this link to read what it is and to accept. If you have no account under this e-mail ' +
      'address yet, register first, then open the link again:\n' +
      `${link}\n` +
      `The link is good for ${invitationDays} days. If you do not know who this is, do nothing: ` +
      'without you nothing happens.',
  }),
  vi: ({ from, brandName, role, link }) => ({
    subject: `Bạn được mời vào một tài khoản tại ${brandName}`,
    text:
      `“${quiet(from)}” mời bạn làm việc trong tài khoản của họ tại ${brandName} ` +
      `(vai trò: ${roles.vi[role]}).\n` +
      'Hãy mở liên kết này để xem chi tiết và chấp nhận. Nếu chưa có tài khoản với địa chỉ email ' +
      'này, hãy đăng ký trước rồi mở lại liên kết:\n' +
      `${link}\n` +
      `Liên kết có hiệu lực ${invitationDays} ngày. Nếu bạn không biết người này, bạn không cần ` +
      'làm gì: không có bạn thì không có gì thay đổi.',
  }),
}

/**
 * The invited person's language is unknown: the account's language comes first, the other one
 * below.
 */
export function letterOfInvitation(of: Invited, language: Language): Letter {
  const [first, second] = [invitedIn[language](of), invitedIn[language === 'vi' ? 'en' : 'vi'](of)]
  return { subject: first.subject, text: `${first.text}\n\n---\n\n${second.text}` }
}

const page = (portalUrl: string): string => `${portalUrl}/account/team`

interface Told {
  /** In a letter to the owner, the person's name; in one to the person, the account's. */
  readonly name: string
  readonly role: MemberRole
  readonly portalUrl: string
}

/** To the owner: an invitation was accepted. */
export const letterOfAcceptance = (
  of: Told & { readonly email: string },
  language: Language,
): Letter =>
  language === 'vi'
    ? {
        subject: 'Có người vừa vào tài khoản của bạn',
        text:
          `${quiet(of.name)} (${of.email}) đã chấp nhận lời mời và làm việc trong tài khoản của ` +
          `bạn với vai trò ${roles.vi[of.role]}.\n` +
          'Bạn xem và thay đổi thành viên ở trang này:\n' +
          page(of.portalUrl),
      }
    : {
        subject: 'Somebody has joined your account',
        text:
          `${quiet(of.name)} (${of.email}) has accepted your invitation and works in your ` +
          `account with the role ${roles.en[of.role]}.\n` +
          'You see and change members on this page:\n' +
          page(of.portalUrl),
      }

/** To the owner: somebody was invited, so that nobody else does it unnoticed. */
export const letterOfInviting = (
  { email, role, portalUrl }: Pick<Told, 'role' | 'portalUrl'> & { readonly email: string },
  language: Language,
): Letter =>
  language === 'vi'
    ? {
        subject: 'Tài khoản của bạn vừa gửi một lời mời',
        text:
          `${email} được mời vào tài khoản của bạn (vai trò: ${roles.vi[role]}).\n` +
          'Nếu không phải bạn mời, hãy rút lời mời ở trang này và đổi mật khẩu:\n' +
          page(portalUrl),
      }
    : {
        subject: 'An invitation was sent from your account',
        text:
          `${email} was invited to your account (role: ${roles.en[role]}).\n` +
          'If it was not you who invited, take the invitation back on this page and change your ' +
          `password:\n${page(portalUrl)}`,
      }

/** To the owner: a member's rights were changed. */
export const letterOfRights = (of: Told & { readonly email: string }, language: Language): Letter =>
  language === 'vi'
    ? {
        subject: 'Quyền của một thành viên đã thay đổi',
        text:
          `Trong tài khoản của bạn, ${quiet(of.name)} (${of.email}) nay có vai trò ` +
          `${roles.vi[of.role]}, hoặc phạm vi đã thay đổi.\n` +
          'Nếu không phải bạn thay đổi, hãy xoá thành viên này ở trang này và đổi mật khẩu:\n' +
          page(of.portalUrl),
      }
    : {
        subject: 'What a member may do was changed',
        text:
          `In your account ${quiet(of.name)} (${of.email}) now has the role ` +
          `${roles.en[of.role]}, or what they reach was changed.\n` +
          'If it was not you who changed it, remove this member on this page and change your ' +
          `password:\n${page(of.portalUrl)}`,
      }

/** To the owner: a member has left. */
export const letterOfLeaving = (of: Told, language: Language): Letter =>
  language === 'vi'
    ? {
        subject: 'Một thành viên đã rời tài khoản của bạn',
        text: `${quiet(of.name)} đã rời tài khoản của bạn và không còn quyền truy cập.`,
      }
    : {
        subject: 'A member has left your account',
        text: `${quiet(of.name)} has left your account and has no access to it any more.`,
      }

/** To the person: the role was changed. */
export const letterOfChange = (of: Told, language: Language): Letter =>
  language === 'vi'
    ? {
        subject: 'Vai trò của bạn đã thay đổi',
        text:
          `Trong tài khoản “${quiet(of.name)}” bạn nay có vai trò ${roles.vi[of.role]}, ` +
          'hoặc phạm vi của bạn đã thay đổi.\n' +
          'Các tài khoản bạn được làm việc nằm ở trang này:\n' +
          page(of.portalUrl),
      }
    : {
        subject: 'Your role was changed',
        text:
          `In the account “${quiet(of.name)}” you now have the role ${roles.en[of.role]}, ` +
          'or what you reach there was changed.\n' +
          'The accounts that you may work in stand on this page:\n' +
          page(of.portalUrl),
      }

/** To the person: access has ended. */
export const letterOfRemoval = (of: Pick<Told, 'name'>, language: Language): Letter =>
  language === 'vi'
    ? {
        subject: 'Quyền truy cập của bạn đã kết thúc',
        text: `Bạn không còn quyền truy cập tài khoản “${quiet(of.name)}”.`,
      }
    : {
        subject: 'Your access has ended',
        text: `You have no access to the account “${quiet(of.name)}” any more.`,
      }

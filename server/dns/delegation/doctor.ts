/** The domain doctor: one sentence for each finding, that says what to change and where. */
import type { Sentence } from './sentence.ts'

const list = (names: readonly string[]): string => names.join(', ')

/**
 * Where the delegation is changed: at the registrar, or for a name below another domain, in that
 * domain's DNS.
 */
function place(domain: string, parent: string, isBelowRegistered: boolean): Sentence {
  return isBelowRegistered
    ? {
        en: `in the DNS of ${parent}, as NS records of ${domain}`,
        vi: `trong DNS của ${parent}, bằng bản ghi NS của ${domain}`,
      }
    : {
        en: `at the registrar where ${domain} was bought`,
        vi: `tại nhà đăng ký nơi bạn mua ${domain}`,
      }
}

export interface Case {
  readonly domain: string
  /** The zone that delegates it. */
  readonly parent: string
  /** `domain` is below a registered name. */
  readonly isBelowRegistered: boolean
  readonly expected: readonly string[]
  readonly found: readonly string[]
}

export const advice = {
  publicSuffix: (domain: string): Sentence => ({
    en:
      `${domain} is an ending under which names are registered, not a domain of its own: enter ` +
      `a name such as shop.${domain}.`,
    vi:
      `${domain} là đuôi tên miền dùng chung để đăng ký, không phải một tên miền riêng: hãy ` +
      `nhập một tên như shop.${domain}.`,
  }),
  notRegistered: ({ domain, parent, isBelowRegistered, expected }: Case): Sentence => {
    const at = place(domain, parent, isBelowRegistered)
    return isBelowRegistered
      ? {
          en:
            `${parent} does not delegate ${domain}: add the name servers ${list(expected)} ` +
            `${at.en}, then check again.`,
          vi:
            `${parent} chưa uỷ quyền ${domain}: hãy thêm nameserver ${list(expected)} ` +
            `${at.vi}, rồi kiểm tra lại.`,
        }
      : {
          en:
            `${domain} is not registered. Check the spelling, or register it and set its ` +
            `name servers to ${list(expected)} at the registrar.`,
          vi:
            `Tên miền ${domain} chưa được đăng ký. Kiểm tra lại chính tả, hoặc đăng ký rồi ` +
            `đặt nameserver thành ${list(expected)} tại nhà đăng ký.`,
        }
  },
  noServers: ({ domain, parent, isBelowRegistered, expected }: Case): Sentence => {
    const at = place(domain, parent, isBelowRegistered)
    return {
      en: `${domain} has no name servers yet: set them to ${list(expected)} ${at.en}.`,
      vi: `${domain} chưa có nameserver: hãy đặt thành ${list(expected)} ${at.vi}.`,
    }
  },
  otherNameServers: ({ domain, parent, isBelowRegistered, expected, found }: Case): Sentence => {
    const at = place(domain, parent, isBelowRegistered)
    return {
      en: `${domain} still uses ${list(found)}: replace them with ${list(expected)} ${at.en}.`,
      vi: `${domain} vẫn dùng ${list(found)}: hãy thay bằng ${list(expected)} ${at.vi}.`,
    }
  },
  oneMissing: ({ domain, parent, isBelowRegistered, expected, found }: Case): Sentence => {
    const at = place(domain, parent, isBelowRegistered)
    const missing = expected.filter((name) => !found.includes(name))
    return {
      en: `${domain} names only ${list(found)}: add ${list(missing)} ${at.en}.`,
      vi: `${domain} mới chỉ có ${list(found)}: hãy thêm ${list(missing)} ${at.vi}.`,
    }
  },
  extraNameServers: ({ domain, parent, isBelowRegistered, expected, found }: Case): Sentence => {
    const at = place(domain, parent, isBelowRegistered)
    const extra = found.filter((name) => !expected.includes(name))
    const missing = expected.filter((name) => !found.includes(name))
    return {
      en:
        `${domain} also names ${list(extra)}, so some visitors may see old results: remove ` +
        `${list(extra)}${missing.length > 0 ? ` and add ${list(missing)}` : ''} ${at.en}.`,
      vi:
        `${domain} còn có ${list(extra)} nên một phần khách truy cập thấy kết quả cũ: hãy ` +
        `gỡ ${list(extra)}${missing.length > 0 ? ` và thêm ${list(missing)}` : ''} ${at.vi}.`,
    }
  },
  spreading: ({ domain, parent }: Case): Sentence => ({
    en:
      `Some servers of ${parent} already list the new name servers of ${domain}, others do ` +
      'not yet. Nothing to change: check again in a few minutes.',
    vi:
      `Một số máy chủ của ${parent} đã có nameserver mới của ${domain}, số khác thì chưa. ` +
      'Không cần sửa gì: hãy kiểm tra lại sau vài phút.',
  }),
  parentSilent: ({ domain }: Case): Sentence => ({
    en:
      `The servers above ${domain} do not answer at the moment: nothing to change, check again ` +
      'in a few minutes.',
    vi:
      `Các máy chủ cấp trên của ${domain} hiện không trả lời: không cần sửa gì, hãy kiểm tra ` +
      'lại sau vài phút.',
  }),
  weAreSilent: ({ domain }: Case): Sentence => ({
    en:
      `${domain} is delegated correctly, but our name servers do not serve it yet. Check ` +
      'again in a minute, and contact support if this persists.',
    vi:
      `${domain} đã được trỏ đúng, nhưng nameserver của chúng tôi chưa phục vụ tên miền ` +
      'này. Hãy kiểm tra lại sau một phút và liên hệ hỗ trợ nếu vẫn vậy.',
  }),
  staleDs: ({ domain, parent, isBelowRegistered }: Case): Sentence => {
    const at = isBelowRegistered
      ? { en: `in the DNS of ${parent}`, vi: `trong DNS của ${parent}` }
      : place(domain, parent, false)
    return {
      en:
        `An old DNSSEC entry (DS record) makes ${domain} unreachable for many visitors: ` +
        `turn DNSSEC off or remove the DS record ${at.en}.`,
      vi:
        `Bản ghi DNSSEC cũ (bản ghi DS) khiến nhiều khách không truy cập được ${domain}: ` +
        `hãy tắt DNSSEC hoặc xoá bản ghi DS ${at.vi}.`,
    }
  },
} as const

export const warnings = {
  staleDs: (domain: string): Sentence => ({
    en:
      `DNSSEC is on for ${domain}: turn it off at the registrar before you change the name ` +
      'servers, or the domain stops working.',
    vi:
      `${domain} đang bật DNSSEC: hãy tắt tại nhà đăng ký trước khi đổi nameserver, nếu ` +
      'không tên miền sẽ ngừng hoạt động.',
  }),
  missingGlue: (domain: string, names: readonly string[]): Sentence => ({
    en:
      `The name servers ${list(names)} lie inside ${domain}, and their addresses are not ` +
      'registered: add them as glue (host records) at the registrar, or use the name servers ' +
      'given here.',
    vi:
      `Nameserver ${list(names)} nằm trong chính ${domain} mà địa chỉ chưa được đăng ký: ` +
      'hãy thêm bản ghi glue (host) tại nhà đăng ký, hoặc dùng nameserver được cấp ở đây.',
  }),
  privateGlue: (names: readonly string[]): Sentence => ({
    en:
      `The registered addresses of ${list(names)} are private and cannot be reached from the ` +
      'internet: correct the host records at the registrar.',
    vi:
      `Địa chỉ đã đăng ký của ${list(names)} là địa chỉ nội bộ, không truy cập được từ ` +
      'internet: hãy sửa bản ghi host tại nhà đăng ký.',
  }),
  strayAaaa: (domain: string, addresses: readonly string[]): Sentence => ({
    en:
      `The AAAA record of ${domain} leads visitors with IPv6 to ${list(addresses)}, not to your ` +
      'server here: delete it in the records of the domain.',
    vi:
      `Bản ghi AAAA của ${domain} đưa khách dùng IPv6 đến ${list(addresses)}, không phải ` +
      'máy chủ của bạn ở đây: hãy xoá bản ghi này trong danh sách bản ghi của tên miền.',
  }),
  caa: (domain: string, owner: string, issuers: readonly string[]): Sentence => ({
    en:
      `The CAA record of ${owner} does not let our certificate authority issue for ${domain}: ` +
      `allow ${list(issuers)} in a CAA record of ${owner}, or delete the CAA record there.`,
    vi:
      `Bản ghi CAA của ${owner} không cho phép đơn vị cấp chứng chỉ của chúng tôi cấp cho ` +
      `${domain}: hãy cho phép ${list(issuers)} trong bản ghi CAA của ${owner}, hoặc xoá ` +
      'bản ghi CAA ở đó.',
  }),
} as const

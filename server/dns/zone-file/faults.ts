/** The faults in a zone file, each with its position. */
import type { Language } from '../../../contract/errors.ts'

export type Sentence = Readonly<Record<Language, string>>

export interface ZoneFileError {
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1, in characters. */
  readonly column?: number
  readonly message: Sentence
}

/** Ends the parsing of one record; the reader continues after it. */
export class Fault extends Error {
  readonly sentence: Sentence
  readonly at: { readonly line: number; readonly column: number } | undefined

  constructor(sentence: Sentence, at?: { readonly line: number; readonly column: number }) {
    super(sentence.en)
    this.sentence = sentence
    this.at = at
  }
}

const quote = (text: string): string => `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`

/** Each function makes the sentence for one kind of fault. */
export const faults = {
  tooLarge: (bytes: number): Sentence => ({
    en: `The zone file is larger than ${bytes} bytes.`,
    vi: `Tệp zone lớn hơn ${bytes} byte.`,
  }),
  tooManyRecords: (count: number): Sentence => ({
    en: `The zone file has more than ${count} records.`,
    vi: `Tệp zone có hơn ${count} bản ghi.`,
  }),
  tooManyErrors: (count: number): Sentence => ({
    en: `Reading stopped after ${count} errors.`,
    vi: `Đã dừng đọc sau ${count} lỗi.`,
  }),
  openQuote: (): Sentence => ({
    en: 'A quotation mark is opened but not closed on this line.',
    vi: 'Dấu ngoặc kép được mở nhưng không đóng trên dòng này.',
  }),
  openParenthesis: (): Sentence => ({
    en: 'The parenthesis opened here is never closed.',
    vi: 'Dấu ngoặc tròn mở ở đây không được đóng.',
  }),
  closingParenthesis: (): Sentence => ({
    en: 'This closing parenthesis was never opened.',
    vi: 'Dấu ngoặc tròn đóng này không có dấu mở.',
  }),
  escape: (text: string): Sentence => ({
    en:
      `${quote(text)} has a bad escape: write \\ and a character, or \\ and three digits from ` +
      '000 to 255.',
    vi:
      `${quote(text)} có chuỗi thoát sai: hãy viết \\ và một ký tự, hoặc \\ và ba chữ số từ 000 ` +
      'đến 255.',
  }),
  quotedHere: (): Sentence => ({
    en: 'Quotation marks are only for the text of TXT records.',
    vi: 'Dấu ngoặc kép chỉ dùng cho nội dung bản ghi TXT.',
  }),
  emptyLabel: (text: string): Sentence => ({
    en: `The name ${quote(text)} has an empty part between dots.`,
    vi: `Tên ${quote(text)} có phần trống giữa các dấu chấm.`,
  }),
  longLabel: (text: string): Sentence => ({
    en: `The name ${quote(text)} has a part longer than 63 bytes.`,
    vi: `Tên ${quote(text)} có phần dài hơn 63 byte.`,
  }),
  longName: (text: string): Sentence => ({
    en: `The name ${quote(text)} is longer than 255 bytes.`,
    vi: `Tên ${quote(text)} dài hơn 255 byte.`,
  }),
  notAName: (text: string): Sentence => ({
    en: `${quote(text)} is not a domain name.`,
    vi: `${quote(text)} không phải là tên miền.`,
  }),
  outside: (name: string, origin: string): Sentence => ({
    en:
      `${quote(name)} does not belong to ${origin}. If it should, remove the dot at its end or ` +
      'correct $ORIGIN.',
    vi: `${quote(name)} không thuộc ${origin}. Nếu thuộc, hãy bỏ dấu chấm ở cuối hoặc sửa $ORIGIN.`,
  }),
  noOwner: (): Sentence => ({
    en: 'The first record must begin with its name; this line begins with a space.',
    vi: 'Bản ghi đầu tiên phải bắt đầu bằng tên; dòng này bắt đầu bằng dấu cách.',
  }),
  noType: (): Sentence => ({
    en: 'The record has no type.',
    vi: 'Bản ghi không có loại.',
  }),
  unknownType: (text: string): Sentence => ({
    en: `${quote(text)} is not a record type.`,
    vi: `${quote(text)} không phải là loại bản ghi.`,
  }),
  unsupportedType: (type: string): Sentence => ({
    en: `Records of type ${type} are not supported. Remove this line to import the rest.`,
    vi: `Bản ghi loại ${type} chưa được hỗ trợ. Hãy bỏ dòng này để nhập phần còn lại.`,
  }),
  generic: (): Sentence => ({
    en: 'Data in the generic form \\# is not supported. Write it in the usual form of its type.',
    vi:
      'Dữ liệu dạng chung \\# chưa được hỗ trợ. Hãy viết theo dạng thông thường của loại bản ' +
      'ghi.',
  }),
  otherClass: (text: string): Sentence => ({
    en: `Only the class IN is supported, not ${quote(text)}.`,
    vi: `Chỉ hỗ trợ lớp IN, không hỗ trợ ${quote(text)}.`,
  }),
  directive: (text: string): Sentence => ({
    en: `${quote(text)} is not a known directive; $ORIGIN and $TTL are.`,
    vi: `${quote(text)} không phải là chỉ thị được biết; chỉ có $ORIGIN và $TTL.`,
  }),
  include: (): Sentence => ({
    en: '$INCLUDE is not supported: paste the content of that file here.',
    vi: 'Không hỗ trợ $INCLUDE: hãy dán nội dung của tệp đó vào đây.',
  }),
  generate: (): Sentence => ({
    en: '$GENERATE is not supported: write the records out.',
    vi: 'Không hỗ trợ $GENERATE: hãy viết đầy đủ các bản ghi.',
  }),
  noTtl: (): Sentence => ({
    en: 'The record has no TTL, and there is no $TTL line before it.',
    vi: 'Bản ghi không có TTL và không có dòng $TTL phía trước.',
  }),
  ttl: (text: string): Sentence => ({
    en: `${quote(text)} is not a time: write seconds from 0 to 2147483647, or units such as 1h30m.`,
    vi:
      `${quote(text)} không phải là thời gian: hãy viết số giây từ 0 đến 2147483647, hoặc đơn ` +
      'vị như 1h30m.',
  }),
  missing: (what: Sentence): Sentence => ({
    en: `${what.en} is missing.`,
    vi: `Thiếu ${what.vi}.`,
  }),
  tooMuch: (text: string): Sentence => ({
    en: `${quote(text)} is more than this line may have.`,
    vi: `${quote(text)} là phần thừa trên dòng này.`,
  }),
  ipv4: (text: string): Sentence => ({
    en: `${quote(text)} is not an IPv4 address.`,
    vi: `${quote(text)} không phải là địa chỉ IPv4.`,
  }),
  ipv6: (text: string): Sentence => ({
    en: `${quote(text)} is not an IPv6 address.`,
    vi: `${quote(text)} không phải là địa chỉ IPv6.`,
  }),
  number: (text: string, most: number): Sentence => ({
    en: `${quote(text)} is not a whole number from 0 to ${most}.`,
    vi: `${quote(text)} không phải là số nguyên từ 0 đến ${most}.`,
  }),
  longString: (bytes: number): Sentence => ({
    en:
      `One string has ${bytes} bytes; the most is 255. Split it into several strings in ` +
      'quotation marks.',
    vi: `Một chuỗi dài ${bytes} byte; tối đa là 255. Hãy tách thành nhiều chuỗi trong ngoặc kép.`,
  }),
  longText: (): Sentence => ({
    en: 'The text of the record is longer than 65535 bytes.',
    vi: 'Nội dung bản ghi dài hơn 65535 byte.',
  }),
  notUtf8: (): Sentence => ({
    en: 'The text is not valid UTF-8.',
    vi: 'Nội dung không phải là UTF-8 hợp lệ.',
  }),
} as const

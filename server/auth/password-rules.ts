/**
 * Passwords that are refused. contract/person.ts checks the length, for the screens too;
 * breached-passwords.ts checks for stolen ones.
 */
import { readFileSync } from 'node:fs'
import { fold } from '../../contract/fold.ts'
import type { Language } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { Refusal } from '../platform/errors.ts'

/**
 * The 10 000 most common leaked passwords of eight characters and more, lower case
 * (THIRD-PARTY.md), and those that are common in Vietnam.
 */
const common = new Set(
  readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
    .split('\n')
    .concat(
      `passw0rd p@ssw0rd p@ssword aa123456 a12345678 qwerty1234 admin1234 admin12345 test1234
      user1234 guest123 letmein1 welcome123 monkey123 dragon123 master123 shadow123 hello123
      matkhau1 matkhau123 anhyeuem emyeuanh yeuem123 vietnam1 vietnam123 hanoi123 saigon123
      khongbiet khongcopass nguyenvan taikhoan 0987654321 1234567a 123456abc 12345678a
      88888888`.split(/\s+/),
    )
    .filter(Boolean),
)

/** Letters and digits only, without accents, lower case. */
const plain = (text: string): string => fold(text).replace(/[^\p{L}\p{N}]/gu, '')

const ownName = {
  en: 'Choose a password that is not your name or email address.',
  vi: 'Hãy chọn mật khẩu khác với tên và địa chỉ email của bạn.',
}

/** The account's owner, as far as known. */
export interface Owner {
  readonly email?: string
  readonly name?: string
}

/**
 * Refuses with invalid_input (`password`) one of the most common passwords, also with punctuation
 * around it, and the owner's own name or email, also with digits after it.
 */
export function refuseCommon(password: string, language: Language, owner: Owner = {}): void {
  const refuse = (why: string): never => {
    throw new Refusal('invalid_input', { fields: { password: why } })
  }
  const lower = password.toLowerCase()
  const bare = lower.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
  if (common.has(lower) || common.has(bare)) refuse(ruleText('password_common', language))
  const { email = '', name = '' } = owner
  const stem = (text: string): string => plain(text).replace(/\d+$/, '')
  const own = [email, email.split('@')[0] ?? '', name].map(stem).filter((text) => text !== '')
  if (own.includes(stem(password))) refuse(ownName[language])
}

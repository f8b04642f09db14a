/** Passwords: argon2id, and a list of those that everybody tries first. */
import { hash, verify } from '@node-rs/argon2'
import { ruleText, type Language } from '../../contract/index.ts'
import { Refusal } from '../platform/errors.ts'

/** OWASP's argon2id minimum: 19 MiB, 2 passes, 1 lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string): Promise<string> => hash(password, cost)
export const verifyPassword = (stored: string, password: string): Promise<boolean> => verify(stored, password)

let decoy: Promise<string> | undefined
/** Spends the time of one verification, so that an unknown email takes as long as a wrong password. */
export async function spendVerification(password: string): Promise<void> {
  decoy ??= hashPassword('no account has this password')
  await verify(await decoy, password)
}

/** The most used passwords of eight characters and more, lower case, as published leak counts rank them. */
const common = new Set(
  `password 12345678 123456789 1234567890 qwertyuiop password1 password12 password123 passw0rd p@ssw0rd p@ssword iloveyou sunshine princess football baseball welcome1
  superman trustno1 jennifer michelle computer corvette mercedes victoria samantha charlie1 starwars whatever internet michael1 jordan23 maverick bulldogs cheyenne
  11111111 00000000 22222222 88888888 66666666 99999999 12341234 123123123 1q2w3e4r 1q2w3e4r5t 1qaz2wsx qwer1234 qwerty12 qwerty123 qwerty1234 asdfghjkl asdf1234 zxcvbnm1
  zxcvbnm123 a1b2c3d4 abc12345 abcd1234 abcdefgh abcdefghi aa123456 a1234567 a12345678 q1w2e3r4 administrator admin123 admin1234 admin12345 letmein1 welcome123 changeme
  monkey123 dragon123 master123 shadow123 hello123 test1234 testtest user1234 guest123 default1 football1 baseball1 basketball liverpool chelsea1 arsenal1 juventus barcelona
  87654321 987654321 0987654321 123456789a 1234567a 123456aa 123456abc 12345678a 12345qwert 147258369 159753456 741852963 789456123 963852741 10203040 11223344 112233445566
  55555555 77777777 33333333 44444444 12121212 13131313 123321123 1234554321 123456654321 matkhau1 matkhau123 anhyeuem emyeuanh yeuem123 vietnam1 vietnam123 hanoi123 saigon123
  khongbiet khongcopass nguyenvan taikhoan iloveyou1 iloveyou2 loveyou1 lovely12 butterfly chocolate blink182 pokemon1 spiderman superstar snoopy12 purple12 orange12 elizabeth
  danielle michael12 jessica1 ashley12 nicole12 anthony1 matthew1 andrew12 joshua12 christian christina alexander benjamin nathan12 patricia leonardo fernando alejandro`
    .split(/\s+/)
    .filter(Boolean),
)

/** Refuses one of the most used with invalid_input. */
export function refuseCommon(password: string, language: Language): void {
  if (common.has(password.toLowerCase()))
    throw new Refusal('invalid_input', { fields: { password: ruleText('password_common', language) } })
}

/**
 * Passwords of little reach, checked where no account is known (RFC 7914). Accounts have argon2id
 * (auth/password.ts).
 */
import { randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { sameBytes } from './constant-time.ts'

const derive = promisify<Buffer, Buffer, number, { N: number; r: number; p: number }, Buffer>(
  scrypt,
)
/** 16 MiB and some 40 ms of one processor. */
const cost = { N: 16_384, r: 8, p: 1 }
const bytes = 32

/** `scrypt:N:r:p:salt:hash`, the last two in base64url. Slow: never inside of a transaction. */
export async function scryptHash(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(Buffer.from(password), salt, bytes, cost)
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join(':')
}

/** Whether `password` matches `hash`; false when `hash` is not in our format. */
export async function scryptMatches(hash: string, password: string): Promise<boolean> {
  const found = /^scrypt:(\d{1,6}):(\d{1,2}):(\d{1,2}):([\w-]+):([\w-]+)$/.exec(hash)
  if (!found) return false
  const [, N, r, p, salt = '', wanted = ''] = found
  const made = await derive(Buffer.from(password), Buffer.from(salt, 'base64url'), bytes, {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return sameBytes(made, Buffer.from(wanted, 'base64url'))
}

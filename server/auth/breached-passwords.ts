/**
 * Checks for stolen passwords, if the operator allows it: the range API of Pwned Passwords
 * (haveibeenpwned.com/API/v3, k-anonymity). We send the first five hex digits of the SHA-1 and get
 * all known endings, so the service never learns which password was meant.
 */
import { createHash } from 'node:crypto'
import type { Language } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import { callHttp } from '../platform/http-client.ts'
import type { Log } from '../platform/log.ts'

const prefixLength = 5
/** Time limit, ms, because the customer waits for the answer. */
const longestMs = 2_000
/** After a failure the service is not called for this long, ms. */
const restMs = 30_000

/**
 * Refuses a stolen password with invalid_input (`password`). Calls a third party: never inside a
 * transaction. If the service does not answer, the password is accepted.
 */
export type RefuseBreached = (password: string, language: Language) => Promise<void>

/** `rangeUrl`: the address before the five digits. Undefined: the check is off. */
export function createBreachCheck({
  rangeUrl,
  log,
}: {
  readonly rangeUrl: string | undefined
  readonly log: Pick<Log, 'warn'>
}): RefuseBreached {
  if (rangeUrl === undefined) return async () => {}
  const base = rangeUrl.replace(/\/*$/, '/')
  let restsUntil = 0
  return async (password, language) => {
    if (performance.now() < restsUntil) return
    const sum = createHash('sha1').update(password).digest('hex').toUpperCase()
    let text: string
    try {
      const answer = await callHttp({
        peer: 'pwned-passwords',
        method: 'GET',
        url: base + sum.slice(0, prefixLength),
        // Padding gives all responses the same length: an observer of the traffic learns nothing
        // either.
        headers: { 'add-padding': 'true' },
        timeoutMs: longestMs,
      })
      text = answer.text
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      restsUntil = performance.now() + restMs
      log.warn({ err: error }, 'a new password was not compared with stolen ones')
      return
    }
    const ending = sum.slice(prefixLength)
    if (!/^[0-9A-F]{35}:\d+\s*$/im.test(text)) {
      log.warn('PWNED_PASSWORDS_URL does not answer as a range API: new passwords are not compared')
      return
    }
    // Padding lines have the count 0.
    const isKnown = text.split(/\r?\n/).some((line) => {
      const [known = '', times = '0'] = line.trim().split(':')
      return known.toUpperCase() === ending && Number(times) > 0
    })
    if (isKnown)
      throw new Refusal('invalid_input', {
        fields: { password: ruleText('password_breached', language) },
      })
  }
}

/**
 * Passwords that were stolen elsewhere, where the operator allows the question: the range API of
 * Pwned Passwords (haveibeenpwned.com/API/v3, k-anonymity). It is sent the first five hex digits of
 * the SHA-1 and answers all endings that it knows of these, so it never learns which one was meant.
 */
import { createHash } from 'node:crypto'
import type { Language } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import { callHttp } from '../platform/http-client.ts'
import type { Log } from '../platform/log.ts'

const prefixLength = 5
/** Whoever types a password waits for it. */
const longestMs = 2_000
/** Nobody else waits for one that has just not answered. */
const restMs = 30_000

/**
 * Refuses a password that is known there with invalid_input (`password`). Asks a third party: never
 * inside of a transaction. Where it does not answer, the password is taken.
 */
export type RefuseBreached = (password: string, language: Language) => Promise<void>

/** `rangeUrl`: ends before the five digits; undefined: nobody is asked. */
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
        // Answers of one length: nobody on the way learns from it either.
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
    // What pads an answer was seen 0 times.
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

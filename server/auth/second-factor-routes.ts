import { randomBytes } from 'node:crypto'
import { secondFactors as api, type Language } from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import type { Accounts } from './accounts.ts'
import { handOver } from './hand-over.ts'
import { hashPassword } from './password.ts'
import type { Profile } from './profile.ts'
import { noteProof } from './second-factor.ts'
import type { Caller } from './session.ts'
import { noteSignIn } from './sign-ins.ts'
import { forgetDevice, trustDevice, trustSeconds } from './trusted-devices.ts'

interface Needs {
  readonly db: Database
  readonly clock: Clock
  readonly accounts: Accounts
  readonly profile: Profile
  /** Per network. */
  readonly passkeyStarts: Limit
}

const known = (caller: Caller | undefined): Caller => {
  if (!caller) throw new Refusal('unauthenticated')
  return caller
}

export function secondFactorRoutes(http: Http, needs: Needs): void {
  const { db, clock, accounts, profile } = needs
  const { passkeys, secondFactor, signIn, letter } = accounts
  const prove = (call: { customerId: string; body: { password: string }; language: Language }) =>
    profile.prove(call.customerId, call.body.password, 'password', call.language)

  http.write(
    api.secondFactor,
    ({ body }) => secondFactor.prepare(body.challenge),
    async ({ tx, body, from, keepBrowser, held, device }) => {
      const onWrong = (customerId: string) => noteSignIn(tx, clock, customerId, from, 'failed')
      const { customerId, remember } = await secondFactor.redeem(
        tx,
        body.challenge,
        body.code.trim(),
        onWrong,
      )
      const opened = await signIn.enter(tx, customerId, from, { remember, cookie: held.cookie })
      if (body.trust === true) {
        const cookie = await trustDevice(tx, clock, customerId, from)
        device.keep(cookie, trustSeconds)
      }
      keepBrowser()
      return handOver(held, opened)
    },
  )
  http.write(
    api.passkeyOptions,
    async ({ from }) => {
      await needs.passkeyStarts.take(from.network)
      return await passkeys.begin()
    },
    async ({ prepared }) => prepared,
  )
  http.write(
    api.passkeySignIn,
    ({ body }) => passkeys.prove(body.challenge, body.response),
    async ({ tx, body: { remember }, from, keepBrowser, held, prepared }) => {
      await passkeys.use(tx, prepared)
      const wish = { remember, cookie: held.cookie }
      const opened = await signIn.enter(tx, prepared.customerId, from, wish)
      keepBrowser()
      return handOver(held, opened)
    },
  )
  http.write(
    api.reauthenticate,
    async ({ customerId, body }) => {
      if ('code' in body) return await secondFactor.checkDelay(customerId).then(() => undefined)
      const proven = await passkeys.prove(body.challenge, body.response)
      if (proven.customerId !== customerId) throw new Refusal('passkey_refused')
      return proven
    },
    async ({ tx, caller, body, prepared }) => {
      const { customerId, sessionId } = known(caller)
      if (prepared) await passkeys.use(tx, prepared)
      else if (!('code' in body) || !(await secondFactor.spend(tx, customerId, body.code.trim())))
        throw new Refusal('otp_invalid', { keepsWrites: true })
      await noteProof(tx, clock, sessionId)
      return null
    },
  )
  http.write(
    api.notMe,
    // Nobody knows this password: the owner chooses another one by a code to the email.
    async ({ body }) => {
      await letter.check(body.token)
      return await hashPassword(randomBytes(32).toString('base64url'))
    },
    async ({ tx, body, prepared }) => ({ email: await letter.deny(tx, body.token, prepared) }),
  )

  http.read(api.security, ({ customerId }) => secondFactor.read(db, customerId))
  http.write(api.beginTotp, prove, ({ tx, customerId }) => secondFactor.beginTotp(tx, customerId))
  http.write(api.confirmTotp, async ({ tx, caller, body }) => ({
    recoveryCodes: await secondFactor.confirmTotp(tx, known(caller), body.code),
  }))
  http.write(api.removeTotp, async ({ tx, customerId }) => {
    await secondFactor.removeTotp(tx, customerId)
    return null
  })
  http.write(api.beginPasskey, prove, ({ tx, customerId }) => passkeys.beginNew(tx, customerId))
  http.write(
    api.addPasskey,
    ({ customerId, body }) => passkeys.proveNew(customerId, body.challenge, body.response),
    async ({ tx, caller, body, prepared }) => ({
      recoveryCodes: await secondFactor.addPasskey(tx, known(caller), prepared, body.name),
    }),
  )
  http.write(api.removePasskey, async ({ tx, customerId, params }) => {
    await secondFactor.removePasskey(tx, customerId, params.id)
    return null
  })
  http.write(api.newRecoveryCodes, async ({ tx, customerId }) => ({
    recoveryCodes: await secondFactor.replaceCodes(tx, customerId),
  }))
  http.write(api.forgetDevice, async ({ tx, customerId, params }) => {
    await forgetDevice(tx, customerId, params.id)
    return null
  })
}

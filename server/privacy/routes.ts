import { randomBytes } from 'node:crypto'
import { dataRequests, personalData as api, type Language } from '../../contract/index.ts'
import { hashPassword, holdAccount } from '../auth/index.ts'
import type { Outbox } from '../messages/index.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Limits } from '../platform/limits.ts'
import { closeAccount, obstaclesOf, type CloseNeeds } from './close.ts'
import { personalData } from './export.ts'
import { closedLetter, exportLetter, receivedLetter } from './letter.ts'
import { receiveRequest, refuseMore, requestsOf } from './requests.ts'

const obstacleTexts: Readonly<Record<api.Obstacle, Sentence>> = {
  servers: { en: 'Delete your servers first.', vi: 'Hãy xoá các máy chủ trước.' },
  domains: { en: 'Delete your domains first.', vi: 'Hãy xoá các tên miền trước.' },
  invoices: {
    en: 'Pay or cancel your open invoices and orders first.',
    vi: 'Hãy thanh toán hoặc huỷ các hoá đơn, đơn hàng còn mở trước.',
  },
  payments: {
    en: 'A payment is under way. Try again once it is settled.',
    vi: 'Đang có một thanh toán chờ xử lý. Hãy thử lại khi thanh toán đó kết thúc.',
  },
  debts: {
    en: 'Your wallet owes money, for a chargeback or on its credit line. Pay it first.',
    vi: 'Ví còn nợ do một giao dịch bị hoàn ngược hoặc do hạn mức tín dụng. Hãy thanh toán trước.',
  },
  handedOver: {
    en:
      'A server that you handed over is paid by you until its month ends, and what is not used ' +
      'may come back to you. Close the account after that month.',
    vi:
      'Máy chủ bạn đã chuyển giao còn trong tháng bạn đã trả tiền, phần chưa dùng có thể được ' +
      'hoàn lại cho bạn. Hãy đóng tài khoản sau khi tháng đó kết thúc.',
  },
  balance: {
    en: 'Your wallet holds money. Ask us to give it back first.',
    vi: 'Ví vẫn còn tiền. Hãy yêu cầu chúng tôi hoàn lại trước.',
  },
}

export interface PrivacyDeps extends CloseNeeds {
  readonly db: Database
  readonly portalUrl: string
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly phone: string; readonly language: Language }>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** A letter that asks to be answered. */
  readonly answerable: Outbox['answerable']
  readonly limits: Limits
  /** Refuses a wrong password. */
  readonly prove: (
    customerId: string,
    password: string,
    field: 'password',
    language: Language,
  ) => Promise<unknown>
}

export function routes(http: Http, deps: PrivacyDeps): void {
  const { db, clock, portalUrl } = deps
  const exports = deps.limits.limit('data-export')
  http.file(api.exportPersonalData, async ({ customerId, ip }) => {
    await exports.take(customerId)
    const { email, phone, language } = await deps.customer(db, customerId)
    const { subject, text } = exportLetter({ from: ip, portalUrl }, language)
    await transaction(db, (tx) => deps.mail(tx, email, subject, text))
    const now = clock.now()
    return {
      name: `data-${now.toISOString().slice(0, 10)}.json`,
      type: 'application/json; charset=utf-8',
      chunks: personalData(db, { id: customerId, recipients: [email, phone] }, now),
    }
  })
  http.read(dataRequests.listDataRequests, ({ customerId }) => requestsOf(db, customerId))
  http.write(dataRequests.makeDataRequest, async ({ tx, customerId, body }) => {
    await holdAccount(tx, customerId)
    await refuseMore(tx, customerId)
    const of = { ...body, customerId, askedBy: null, enteredBy: null }
    const request = await receiveRequest(tx, deps, of)
    const { email, language } = await deps.customer(tx, customerId)
    const { subject, text } = receivedLetter(request, language)
    await deps.mail(tx, email, subject, text)
    return request
  })
  http.read(api.getClosing, async ({ customerId }) => ({
    obstacles: await obstaclesOf(db, deps, customerId),
  }))
  http.write(
    api.closeAccount,
    async ({ customerId, body, language }) => {
      await deps.prove(customerId, body.password, 'password', language)
      return { passwordHash: await hashPassword(randomBytes(32).toString('base64url')) }
    },
    async ({ tx, customerId, prepared }) => {
      await deps.holdTrail(tx)
      // Lock before checking: a transaction that refers to the customer waits for this one.
      await holdAccount(tx, customerId)
      const [obstacle] = await obstaclesOf(tx, deps, customerId)
      if (obstacle !== undefined)
        throw new Refusal('conflict', { fields: { account: obstacleTexts[obstacle] } })
      const { language: own } = await deps.customer(tx, customerId)
      const { email } = await closeAccount(tx, deps, { customerId, ...prepared })
      await deps.answerable(tx, {
        to: email,
        language: own,
        about: 'closed account',
        ...closedLetter(own),
      })
      return null
    },
  )
}

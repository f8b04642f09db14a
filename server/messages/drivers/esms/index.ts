/**
 * SMS through eSMS.vn. Source: https://developers.esms.vn (SendMultipleMessage_V4_post_json,
 * SmsType 2, table of codes).
 */
import { DriverFailure } from '../../../platform/errors.ts'
import { callHttp, jsonOf } from '../../../platform/http-client.ts'
import type { SmsDriver } from '../../driver.ts'
import { esmsPhone, gsmText, requestId } from './convert.ts'
import type { EsmsSettings } from './settings.ts'

const longest = 160

/**
 * Opens the driver. `send` resolves when eSMS has accepted the message, which is not yet its
 * delivery.
 */
export function createEsms(settings: EsmsSettings): SmsDriver {
  const origin = settings.url.replace(/\/+$/, '')
  const url = `${origin}/MainService.svc/json/SendMultipleMessage_V4_post_json/`
  return {
    name: 'esms',
    async send({ to, text, idempotencyKey }) {
      const phone = esmsPhone(to)
      const content = gsmText(text)
      if (phone === undefined)
        throw new DriverFailure('rejected', 'esms: the receiver is no phone number in E.164')
      if (content.trim() === '' || content.length > longest)
        throw new DriverFailure('rejected', `esms: a message has 1 to ${longest} characters`)
      const answer = await callHttp({
        peer: 'esms',
        method: 'POST',
        url,
        json: {
          ApiKey: settings.apiKey,
          SecretKey: settings.secretKey,
          Phone: phone,
          Content: content,
          Brandname: settings.brandname,
          SmsType: '2',
          IsUnicode: '0',
          Sandbox: '0',
          RequestId: requestId(idempotencyKey),
        },
        timeoutMs: settings.timeoutMs,
        // RequestId keeps a second call from being a second message
        repeatable: true,
      })
      const read = jsonOf(answer, 'esms')
      const given =
        typeof read === 'object' && read !== null && 'CodeResult' in read
          ? String(read.CodeResult)
          : ''
      const code = /^\d{1,4}$/.exec(given)?.[0] ?? 'nothing'
      // 124: this RequestId was accepted before
      if (code === '100' || code === '124') return
      // 99 is eSMS's own trouble, 103 an empty prepaid account: the same message may pass later
      throw new DriverFailure(
        ['99', '103', 'nothing'].includes(code) ? 'unavailable' : 'rejected',
        `esms: answered ${code}`,
      )
    },
  }
}

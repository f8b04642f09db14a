/**
 * eSMS.vn: POST /esms/MainService.svc/json/SendMultipleMessage_V4_post_json/ with a JSON body.
 * Source: https://developers.esms.vn; codes 100 accepted, 101 wrong keys, 104 no such brandname,
 * 124 RequestId used before, 99 other.
 */
import { randomUUID } from 'node:crypto'
import { sameText } from './constant-time.ts'
import type { Database } from './database.ts'
import { json, type Call, type Reply, type Routes } from './http.ts'
import { deliver } from './inbox.ts'

export interface EsmsKeys {
  readonly apiKey: string
  readonly secretKey: string
}

/** eSMS answers 200 even when it refuses. */
const refuse = (code: string, why: string): Reply =>
  json({ CodeResult: code, CountRegenerate: 0, ErrorMessage: why })

export function esmsRoutes(db: Database, keys: EsmsKeys): Routes {
  return {
    'POST /esms/MainService.svc/json/SendMultipleMessage_V4_post_json': async (call: Call) => {
      let fields: Record<string, unknown>
      try {
        const body: unknown = JSON.parse(call.body.toString('utf8'))
        if (typeof body !== 'object' || body === null) throw new SyntaxError()
        fields = body as Record<string, unknown>
      } catch {
        return refuse('99', 'The body is not JSON')
      }
      const text = (name: string): string => {
        const value = fields[name]
        return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
      }
      if (!sameText(keys.apiKey, text('ApiKey')) || !sameText(keys.secretKey, text('SecretKey')))
        return refuse('101', 'Authorize Failed')
      const [phone, content, requestId] = [text('Phone'), text('Content'), text('RequestId')]
      if (!/^(?:0|[1-9])\d{7,14}$/.test(phone)) return refuse('99', 'Phone is not valid')
      if (text('SmsType') === '2' && text('Brandname').trim() === '')
        return refuse('104', 'Brandname does not exist')
      if (content.trim() === '') return refuse('99', 'Content is empty')
      // 160 GSM characters are one message, and eSMS joins at most 612; other characters need
      // IsUnicode.
      if (text('IsUnicode') !== '1' && /[^\n\x20-\x7e]/.test(content))
        return refuse('99', 'Content has letters that need IsUnicode')
      if (content.length > 612) return refuse('99', 'Content is too long')
      const id = randomUUID().replaceAll('-', '')
      const accepted = { CodeResult: '100', CountRegenerate: 0, SMSID: id }
      if (text('Sandbox') === '1') return json(accepted)
      const isNew = await deliver(db, {
        channel: 'sms',
        to: phone,
        text: content,
        key: `sms:${requestId === '' ? id : requestId}`,
      })
      return isNew ? json(accepted) : refuse('124', 'RequestId is duplicated')
    },
  }
}

/** Turns the typed form into the call's body, by the server's own rules. Pure. */
import type { Domain, RecordBody } from '../../contract/dns.ts'
import { readRecord, recordRuleText, type RecordField } from '../../contract/dns-records.ts'
import type { Language } from '../../contract/errors.ts'
import type { RecordForm } from './record-form.ts'

const whole = (text: string): number =>
  /^-?\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN

/** The call's body, or the errors: the server's own rules, applied before the call. */
export function readForm(
  form: RecordForm,
  domain: Pick<Domain, 'ascii' | 'capabilities'>,
  language: Language,
): { body: RecordBody } | { errors: Partial<{ [F in RecordField]: string }> } {
  const draft = {
    name: form.name.trim(),
    type: form.type,
    content: form.type === 'TXT' ? form.content : form.content.trim(),
    ttl: whole(form.ttl),
    proxied: form.proxied && domain.capabilities.proxied,
    priority: form.type === 'MX' ? whole(form.priority) : null,
  }
  const read = readRecord(draft, domain.ascii, domain.capabilities)
  if ('faults' in read)
    return {
      errors: Object.fromEntries(
        Object.entries(read.faults).map(([field, rule]) => [field, recordRuleText(rule, language)]),
      ) as Partial<{
        [F in RecordField]: string
      }>,
    }
  return { body: draft }
}

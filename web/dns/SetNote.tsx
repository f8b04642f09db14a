import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Domain, Record } from '../../contract/dns.ts'
import { proxiable } from '../../contract/dns-types.ts'
import { useTexts } from '../i18n/index.ts'
import { Note } from '../ui/State.tsx'
import { recordSetQuery } from './queries.ts'
import type { RecordForm } from './record-form.ts'
import { ttlText } from './wording.ts'

/** Typing must rest this long before the server is asked, ms. */
const restMs = 300

interface SetNoteProps {
  domain: Domain
  /** The record that is edited. */
  record: Record | undefined
  values: RecordForm
}

/**
 * Warns before saving which other records would change: those of the same name and type get the
 * record's TTL and proxy setting (RFC 2181, 5.2).
 */
export function SetNote({ domain, record, values }: SetNoteProps) {
  const t = useTexts('dns', 'dnsRecord')
  const typed = values.name.trim()
  const [name, setName] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setName(typed), restMs)
    return () => clearTimeout(timer)
  }, [typed])
  const { data } = useQuery({
    ...recordSetQuery(domain.id, name, values.type),
    enabled: name !== '',
  })
  const others = name === typed ? (data ?? []).filter(({ id }) => id !== record?.id) : []
  const [other] = others
  const ttl = Number(values.ttl)
  const ofTtl = /^\d{1,6}$/.test(values.ttl.trim()) && other !== undefined && other.ttl !== ttl
  const ofProxy =
    domain.capabilities.proxied &&
    proxiable(values.type) &&
    other !== undefined &&
    other.proxied !== values.proxied
  const of = `${values.type} ${other?.name ?? ''}`
  return (
    <div aria-live="polite">
      {other && (ofTtl || ofProxy) ? (
        <Note tone="warning" className="mt-4">
          {ofTtl ? (
            <p>
              {t.record.along(
                others.length,
                of,
                ttlText(other.ttl, t.records),
                ttlText(ttl, t.records),
              )}
            </p>
          ) : null}
          {ofProxy ? <p>{t.record.alongProxied(others.length, of)}</p> : null}
        </Note>
      ) : null}
    </div>
  )
}

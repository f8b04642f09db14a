/**
 * The edge's certificates: those of many thousand names as text, and those of visited names as
 * OpenSSL contexts, which cost more than ten times as much memory. The portal sends them; the edge
 * keeps them while the portal is down.
 */
import tls from 'node:tls'

export interface EdgeCertificate {
  /** A host name in lower case; or `*.` and the parent of all names that it covers. */
  readonly name: string
  /** Grows when the name gets another certificate. */
  readonly version: number
  /** PEM, the leaf first. */
  readonly chain: string
  /** PEM. */
  readonly key: string
  /** When it ends, ms since 1970. */
  readonly until: number
}

export interface CertificateStore {
  /**
   * Sets the complete list of names and versions; certificates that are not in it are dropped.
   * Answers the names whose version is missing here.
   */
  compare(list: readonly Pick<EdgeCertificate, 'name' | 'version'>[]): string[]
  put(certificates: readonly EdgeCertificate[]): void
  /** Whether visitors of the host name can be sent to HTTPS: its certificate is there and valid. */
  covers(host: string): boolean
  /** Undefined where there is no certificate for the host name. */
  contextOf(host: string): tls.SecureContext | undefined
  /** How many there are, and how many are open. */
  counts(): { readonly held: number; readonly open: number }
}

interface Held {
  readonly version: number
  readonly leaf: string
  /** The chain after the leaf; the same text for all certificates of one authority. */
  readonly rest: string
  readonly key: string
  readonly until: number
}

/** Each context takes 40 KB of OpenSSL's memory and a third of a millisecond to make. */
const openAtOnce = 1_000
const endOfPem = '-----END CERTIFICATE-----\n'

/**
 * Settings that browsers of the last ten years support (Mozilla's list "intermediate", TLS 1.2's
 * part).
 */
export const tlsSettings = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const

/** `log`: gets a warning for a certificate that OpenSSL does not accept. */
export function createCertificateStore(
  log: { warn(detail: object, message: string): void },
  limit = openAtOnce,
): CertificateStore {
  const held = new Map<string, Held>()
  /** In the order of their last use. */
  const open = new Map<string, tls.SecureContext>()
  const rests = new Map<string, string>()

  /** The name of the certificate for a host name. */
  function nameFor(host: string): string | undefined {
    if (held.has(host)) return host
    const dot = host.indexOf('.')
    const wildcard = dot > 0 ? `*${host.slice(dot)}` : undefined
    return wildcard !== undefined && held.has(wildcard) ? wildcard : undefined
  }
  /**
   * Frees OpenSSL's memory at once: V8 knows of a tenth of it and would collect it late. An open
   * connection keeps its context. Without Node's own method the garbage collection does it.
   */
  function close(name: string): void {
    const { context } = open.get(name) ?? {}
    open.delete(name)
    ;(context as { readonly close?: () => void } | undefined)?.close?.()
  }
  function forget(name: string): void {
    held.delete(name)
    close(name)
  }

  return {
    compare(list) {
      const versions = new Map(list.map(({ name, version }) => [name, version]))
      for (const name of held.keys()) if (!versions.has(name)) forget(name)
      return list.flatMap(({ name, version }) =>
        held.get(name)?.version === version ? [] : [name],
      )
    },
    put(certificates) {
      for (const { name, version, chain, key, until } of certificates) {
        const cut = chain.indexOf(endOfPem) + endOfPem.length
        const rest = chain.slice(cut)
        const shared = rests.get(rest) ?? rest
        rests.set(rest, shared)
        forget(name)
        held.set(name, { version, leaf: chain.slice(0, cut), rest: shared, key, until })
      }
    },
    covers(host) {
      const name = nameFor(host)
      return name !== undefined && (held.get(name)?.until ?? 0) > Date.now()
    },
    contextOf(host) {
      const name = nameFor(host)
      const certificate = name === undefined ? undefined : held.get(name)
      if (name === undefined || !certificate) return undefined
      let context = open.get(name)
      try {
        context ??= tls.createSecureContext({
          ...tlsSettings,
          cert: certificate.leaf + certificate.rest,
          key: certificate.key,
        })
      } catch (error) {
        log.warn({ err: error, name }, 'a certificate cannot be used')
        return undefined
      }
      open.delete(name)
      open.set(name, context)
      for (const [eldest] of open) {
        if (open.size <= limit) break
        close(eldest)
      }
      return context
    },
    counts: () => ({ held: held.size, open: open.size }),
  }
}

/** Certificates on the line from the portal, which orders them, to the edge. */
import type { MessageConnection } from 'vscode-jsonrpc/node'
import type { CertificateEdge } from './certificates/index.ts'
import type { CertificateFeed } from './edge/index.ts'
import { callsOver, serveOver } from './platform/rpc.ts'

type Calls = {
  [N in keyof CertificateFeed]: (...args: Parameters<CertificateFeed[N]>) => unknown
}
const prefix = 'edge/certificates'

/**
 * The edge at the other end of the line, which must be listening. A function as `line` gives the
 * current line.
 */
export function connectCertificates(
  line: MessageConnection | (() => MessageConnection | undefined),
): CertificateEdge {
  const call = callsOver<Calls>(line, prefix, 'the edge is not there')
  return {
    compare: async (list, httpsOnly, readAt) =>
      (await call('compare', list, httpsOnly, readAt)) as string[],
    put: async (certificates) => void (await call('put', certificates)),
    challenge: async (challenge) => void (await call('challenge', challenge)),
    dropChallenge: async (token) => void (await call('dropChallenge', token)),
  }
}

export function serveCertificates(line: MessageConnection, feed: CertificateFeed): void {
  serveOver<Calls>(line, prefix, {
    compare: feed.compare,
    put: feed.put,
    challenge: feed.challenge,
    dropChallenge: feed.dropChallenge,
  })
}

/** Certificates on the line from the portal, which has them issued, to the edge. */
import type { MessageConnection } from 'vscode-jsonrpc/node'
import type { CertificateEdge } from './certificates/index.ts'
import type { CertificateFeed } from './edge/index.ts'
import { callsOver, serveOver } from './platform/rpc.ts'

type Calls = {
  [N in keyof CertificateFeed]: (...args: Parameters<CertificateFeed[N]>) => unknown
}
const prefix = 'edge/certificates'

/** The edge at the other end of the line, which must be listening. */
export function connectCertificates(line: MessageConnection): CertificateEdge {
  const call = callsOver<Calls>(line, prefix, 'the edge is not there')
  return {
    compare: async (list, httpsOnly) => (await call('compare', list, httpsOnly)) as string[],
    put: async (certificates) => void (await call('put', certificates)),
    challenge: async (challenge) => void (await call('challenge', challenge)),
    dropChallenge: async (token) => void (await call('dropChallenge', token)),
  }
}

/**
 * `isLatest`: false once another process of the portal has spoken; then what this one says of
 * certificates is old.
 */
export function serveCertificates(
  line: MessageConnection,
  feed: CertificateFeed,
  isLatest: () => boolean,
): void {
  serveOver<Calls>(line, prefix, {
    compare: (list, httpsOnly) => (isLatest() ? feed.compare(list, httpsOnly) : []),
    put: (certificates) => {
      if (isLatest()) feed.put(certificates)
    },
    challenge: feed.challenge,
    dropChallenge: feed.dropChallenge,
  })
}

import type http from 'node:http'

export const carriesBody = ({ headers }: http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * A server's `shouldUpgradeCallback`. Without it Node hands every `Connection: Upgrade` to the
 * 'upgrade' event, together with its body. A server may ignore an offer of another protocol (RFC
 * 9110, 7.8). We ignore all but WebSocket: a tunnel begins without a body, so a request with one
 * (such as a form from a client that prefers h2c) would lose it.
 */
export const opensWebSocket = (request: http.IncomingMessage): boolean =>
  request.method === 'GET' &&
  !carriesBody(request) &&
  /^websocket$/i.test(request.headers.upgrade ?? '')

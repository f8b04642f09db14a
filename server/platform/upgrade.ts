import type http from 'node:http'

export const carriesBody = ({ headers }: http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * What a server's 'upgrade' event is for, as its `shouldUpgradeCallback`: Node hands over every
 * `Connection: Upgrade` otherwise, and its body with it. A server may pass over an offer of another
 * protocol (RFC 9110, 7.8). All but a WebSocket's are: a tunnel begins without a body, so a request
 * that has one, such as a form from a client that would rather speak h2c, would lose it.
 */
export const opensWebSocket = (request: http.IncomingMessage): boolean =>
  request.method === 'GET' &&
  !carriesBody(request) &&
  /^websocket$/i.test(request.headers.upgrade ?? '')

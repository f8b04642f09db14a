/**
 * Edges of one portal pass visitors on to each other, each to the node that runs the site. A
 * passed-on request carries a key that the portal gives to all edges; the other edge's statements
 * about such a visitor are trusted.
 */
import { sameText } from '../platform/constant-time.ts'
import type { VisitorRequest } from './http2.ts'

/** Lower case; taken from every visitor's request. */
export const peerHeader = 'x-portal-edge'

/** `key`: null before the portal has given one. */
export const isFromPeer = ({ headers }: VisitorRequest, key: string | null): boolean => {
  const given = headers[peerHeader]
  return key !== null && typeof given === 'string' && sameText(given, key)
}

/** The scheme of the visitor's browser, as another edge states it. */
export const protoByPeer = ({ headers }: VisitorRequest): 'http' | 'https' =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'

/**
 * Edges of one portal pass visitors on to each other, each to the node that runs the site. A
 * visitor whom another edge has passed on is known by a key that the portal gives all of them; what
 * that edge says of the visitor is believed.
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

/** What the visitor's browser uses, by the word of another edge. */
export const protoByPeer = ({ headers }: VisitorRequest): 'http' | 'https' =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'

/**
 * The name server in another process, over a line of JSON-RPC: it answers queries while the portal
 * restarts.
 */
import type { MessageConnection } from 'vscode-jsonrpc/node'
import { callsOver, isUnknownCall, passOn, serveOver } from '../../../platform/rpc.ts'
import type { DnsDriver } from '../../driver.ts'
import { callNames, prefix, type Calls } from './protocol.ts'

type Functions = { [N in keyof Calls]: Calls[N] }

/**
 * The driver at the other end of the line, which must be listening. A function as `line` gives the
 * current line. The other process opens its ports itself, and closes them when it ends.
 */
export function connectNameServer(
  line: MessageConnection | (() => MessageConnection | undefined),
): DnsDriver {
  const call = callsOver<Functions>(line, prefix, 'the name server’s process is not there')
  return {
    name: 'embedded',
    capabilities: { proxied: false, apexFlattening: false },
    durable: false,
    putZone: (head, sets) => call('putZone', head, sets),
    changeZone: (head, fromSerial, sets) => call('changeZone', head, fromSerial, sets),
    removeZone: (name) => call('removeZone', name),
    held: async (name) => (await call('held', name)) ?? undefined,
    list: () => call('list'),
    async startId() {
      try {
        return (await call('startId')) ?? undefined
      } catch (error) {
        if (isUnknownCall(error)) return undefined
        throw error
      }
    },
    start: async () => undefined,
    health: async () => (await call('health')) ?? undefined,
    close: async () => undefined,
  }
}

/** Serves this process's name server to the other end of the line. */
export function serveNameServer(line: MessageConnection, driver: DnsDriver): void {
  serveOver<Functions>(line, prefix, {
    putZone: (head, sets) => driver.putZone(head, sets),
    changeZone: (head, fromSerial, sets) => driver.changeZone(head, fromSerial, sets),
    removeZone: (name) => driver.removeZone(name),
    held: async (name) => (await driver.held(name)) ?? null,
    list: () => driver.list(),
    startId: async () => (await driver.startId?.()) ?? null,
    health: async () => (await driver.health()) ?? null,
  })
}

/** Forwards the portal's calls to the name server's present process. */
export const passOnToNameServer = (
  line: MessageConnection,
  to: () => MessageConnection | undefined,
): void => passOn(line, prefix, callNames, to)

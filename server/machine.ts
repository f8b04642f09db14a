/**
 * This machine's services besides the portal, by its ROLES: `dns` runs the name server in its own
 * process, `node` the sites' runtime and edge in this one. Both continue while the portal restarts.
 * The local portal reaches them over the line to its parent, portals on other machines over
 * NODE_LISTEN.
 */
import type { MessageConnection } from 'vscode-jsonrpc/node'
import type { Config } from './config.ts'
import {
  nameServerSettings,
  passCallsOn,
  superviseNameServer,
  type SupervisedNameServer,
} from './name-server.ts'
import type { Log } from './platform/log.ts'
import { serveSecureLines, type SecureLines } from './platform/secure-line.ts'
import { openSites, type WordpressFiles } from './sites.ts'

export interface Machine {
  /** Resolves when the name server answers. Rejects with the system's error for its ports. */
  openNameServer(): Promise<void>
  /** Starts it again with other settings. */
  restartNameServer(config: Config): void
  /** Opens the port of the sites. Rejects with the system's error (EADDRINUSE). */
  openSites(): Promise<void>
  /**
   * Opens NODE_LISTEN, if it is set, to callers with the key; once. Rejects with the system's
   * error.
   */
  openToOthers(key: string): Promise<void>
  /** Serves the calls of the line; the caller then sets the line to listening. */
  serve(line: MessageConnection): void
  /** Its services and addresses, one line each. */
  lines(): string[]
  close(): Promise<void>
}

/** @param wordpress what a site is made from and runs; WordPress on PHP when not given */
export function createMachine(config: Config, log: Log, wordpress?: WordpressFiles): Machine {
  const { ROLES: roles } = config
  const sites = roles.has('node') ? openSites(config, log, wordpress) : undefined
  let nameServer: SupervisedNameServer | undefined
  let others: Promise<SecureLines> | undefined

  function serve(line: MessageConnection): void {
    if (roles.has('dns')) passCallsOn(line, () => nameServer)
    sites?.serve(line)
  }

  return {
    serve,
    async openNameServer() {
      if (!roles.has('dns') || config.DNS_DRIVER !== 'embedded') return
      nameServer = superviseNameServer(nameServerSettings(config), log)
      await nameServer.ready
    },
    restartNameServer: (fresh) => nameServer?.restart(nameServerSettings(fresh)),
    async openSites() {
      await sites?.listen()
    },
    async openToOthers(key) {
      const listen = config.NODE_LISTEN
      if (listen === undefined) return
      const onLine = (line: MessageConnection): void => {
        serve(line)
        line.listen()
      }
      const onStream = sites?.serveStream
      others ??= serveSecureLines({ listen, key, log, onLine, onStream })
      await others
    },
    lines: () => [
      ...(nameServer ? [`Name server        ${config.HOST}:${config.DNS_PORT} (UDP and TCP)`] : []),
      ...(sites ? [`Customers' sites   ${config.HOST}:${config.SITES_PORT}`] : []),
      ...(others ? [`For portals        ${config.NODE_LISTEN} (${config.NODE_NAME})`] : []),
    ],
    async close() {
      await (await others?.catch(() => undefined))?.close()
      await sites?.close()
      await nameServer?.stop()
    },
  }
}

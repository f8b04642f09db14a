/** A stand-in's routes on a port of their own. */
import type { AddressInfo } from 'node:net'
import { serverFor, type Routes } from '../sandbox/http.ts'

export async function openHttp(
  routes: Routes,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = serverFor(
    routes,
    (line) => {
      throw new Error(line)
    },
    4_194_304,
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

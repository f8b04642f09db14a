/** A visitor of a site, and whether the edge answered with a kept page. */
import http from 'node:http'
import type { TestPortal } from './portal.ts'

/** `word`: the result of the edge's cache, such as HIT or MISS. */
export const visitKept = (
  { config }: Pick<TestPortal, 'config'>,
  host: string,
): Promise<{ word: unknown; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        { host: '127.0.0.1', port: config.SITES_PORT, headers: { host }, agent: false },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.once('end', () =>
            resolve({
              word: answer.headers['x-cache'],
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          )
        },
      )
      .once('error', reject)
  })

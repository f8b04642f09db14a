// One-use tickets for the one-click sign-in and for acts of the portal: a file outside the site's
// own folder, which PHP cannot read. The runtime consumes it with one unlink, so of several
// containers and several visitors only one gets it. The file's name is the hash of the ticket:
// somebody who reads the folder cannot sign in with it.
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { writeWhole } from './files.ts'

const lifeMs = 60_000

/** What PHP can be asked to do (runtimes/wordpress-wasm, acts.js). */
export type ActName =
  | 'replace-addresses'
  | 'list-software'
  | 'upgrade-database'
  | 'import'
  | 'console'
  | 'database'

/** What a ticket allows: to sign a user in, or one step of an act. */
type Allowed =
  | { readonly user: string }
  | {
      readonly act: ActName
      readonly step: object
      /** Less than a page may take, ms. */
      readonly ms?: number
    }

/**
 * Answers the ticket; tickets that have run out are swept away.
 * @param owner whom the site runs as, who uses the ticket up; null: the portal's own user
 */
export async function writeTicket(
  dir: string,
  allowed: Allowed,
  owner: number | null,
): Promise<string> {
  await fs.mkdir(dir, { recursive: true, mode: 0o700 })
  const now = Date.now()
  for (const name of await fs.readdir(dir)) {
    const file = path.join(dir, name)
    const stat = await fs.stat(file).catch(() => null)
    if (stat && now - stat.mtimeMs > lifeMs) await fs.rm(file, { force: true })
  }
  const ticket = randomBytes(32).toString('base64url')
  const name = createHash('sha256').update(ticket).digest('hex')
  const file = path.join(dir, name)
  await writeWhole(file, JSON.stringify({ ...allowed, until: now + lifeMs }))
  if (owner !== null) await fs.lchown(file, owner, owner)
  return ticket
}

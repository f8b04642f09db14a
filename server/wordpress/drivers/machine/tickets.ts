// One-use tickets for the one-click sign-in and for acts of the portal. A ticket is a file outside
// the site's own folder, which PHP cannot read. The runtime consumes it with one unlink, so of
// several containers and several visitors only one gets it. The file's name is the hash of the
// ticket: reading the folder does not help anybody to sign in.
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { writeWhole } from './files.ts'

const lifeMs = 60_000

/** The acts that PHP can be asked for (runtimes/wordpress-wasm, acts.js). */
export type ActName =
  | 'replace-addresses'
  | 'list-software'
  | 'upgrade-database'
  | 'import'
  | 'console'
  | 'database'

/** What a ticket permits: signing a user in, or one step of an act. */
type Allowed =
  | { readonly user: string }
  | {
      readonly act: ActName
      readonly step: object
      /** Time limit, below that of a page, ms. */
      readonly ms?: number
    }

/**
 * Writes a ticket and answers it; removes expired ones.
 * @param owner the user that the site runs as, who consumes the ticket; null: the portal's own
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

/**
 * How a fresh machine becomes a node by one command: its operator enters a join key, which works
 * once and within an hour. The machine proves that it has the key, and gets its settings sealed
 * with it. The key itself is never sent.
 */
import { randomBytes } from 'node:crypto'
import { joinNode, NodeSettings } from '../../contract/nodes.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { sameText } from '../platform/constant-time.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import { createSecrets, type Secrets } from '../platform/secrets.ts'

export const joinKeyMs = hours(1)
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
const groups = 8
const groupLength = 5
const purpose = 'node-join'

/** A key of nearly 200 bits, in groups that a person can read. */
function drawKey(): string {
  const letters: string[] = []
  while (letters.length < groups * groupLength)
    for (const byte of randomBytes(64))
      // Bytes beyond the last multiple of the alphabet's length are dropped, so that all letters
      // are equally likely.
      if (byte < 256 - (256 % alphabet.length)) letters.push(alphabet[byte % alphabet.length] ?? '')
  return Array.from({ length: groups }, (_, at) =>
    letters.slice(at * groupLength, (at + 1) * groupLength).join(''),
  ).join('-')
}

/** Makes a new key for a node; an earlier key stops working. */
export async function makeJoinKey(
  db: Queryable,
  { secrets, clock }: { readonly secrets: Secrets; readonly clock: Clock },
  node: string,
): Promise<string> {
  const key = drawKey()
  const values = {
    sealed: secrets.seal(`${purpose}:${node}`, key),
    expires_at: later(clock.now(), joinKeyMs),
    used_at: null,
  }
  await db
    .insertInto('node_join')
    .values({ node_id: node, ...values })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(values))
    .execute()
  return key
}

const proofOf = (key: string, node: string, nonce: string): string =>
  createSecrets(key).fingerprint(purpose, `${node}:${nonce}`).toString('hex')

/** The request by which a machine asks for its settings. */
export function joinRequest(key: string, node: string) {
  const nonce = randomBytes(16).toString('hex')
  return { node, nonce, proof: proofOf(key, node, nonce) }
}

/** The settings in an answer. Throws where its sender did not have the key. */
export const openSettings = (
  key: string,
  asked: { readonly node: string; readonly nonce: string },
  sealed: string,
): NodeSettings =>
  NodeSettings.parse(
    JSON.parse(
      createSecrets(key).open(
        `${purpose}:${asked.node}:${asked.nonce}`,
        Buffer.from(sealed, 'base64'),
      ),
    ),
  )

export interface JoinDeps {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  /** The settings that a node of this portal is started with. */
  readonly settingsOf: (node: string, address: string) => NodeSettings
}

/**
 * Answers a join request. Refuses every fault alike with not_found, so that names of nodes cannot
 * be probed.
 */
async function join(
  tx: Tx,
  { clock, secrets, settingsOf }: JoinDeps,
  asked: { readonly node: string; readonly nonce: string; readonly proof: string },
): Promise<{ sealed: string }> {
  const row = await tx
    .selectFrom('node_join as j')
    .innerJoin('node as n', 'n.id', 'j.node_id')
    .select(['j.sealed', 'j.expires_at', 'j.used_at', 'n.address'])
    .where('j.node_id', '=', asked.node)
    .forUpdate('j')
    .executeTakeFirst()
  if (!row || row.used_at !== null || row.expires_at <= clock.now() || row.address === null)
    throw new Refusal('not_found')
  const key = secrets.open(`${purpose}:${asked.node}`, row.sealed)
  if (!sameText(proofOf(key, asked.node, asked.nonce), asked.proof)) throw new Refusal('not_found')
  await tx
    .updateTable('node_join')
    .set({ used_at: clock.now() })
    .where('node_id', '=', asked.node)
    .execute()
  const text = JSON.stringify(settingsOf(asked.node, row.address))
  const sealed = createSecrets(key).seal(`${purpose}:${asked.node}:${asked.nonce}`, text)
  return { sealed: sealed.toString('base64') }
}

export function joinRoutes(http: Http, deps: JoinDeps): void {
  http.write(joinNode, ({ tx, body }) => join(tx, deps, body))
}

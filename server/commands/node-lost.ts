import type { NodeLoss } from '../../contract/operator-nodes.ts'
import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { hindranceOfLoss, lossOf } from '../wordpress/index.ts'
import { actCommand } from './act.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- node lost <name> [--server <id>] [--powered-off] --reason <text>\n' +
  'npm run portal -- node lost <name> [--server <id>] [--powered-off] --dry-run\n' +
  'Each with --json.'

const msPerMinute = 60_000

/** The time since `at`, in words. */
export function ageOf(at: string | null, now: number): string {
  if (at === null) return 'never'
  const minutes = Math.max(0, Math.round((now - Date.parse(at)) / msPerMinute))
  if (minutes < 120) return `${minutes} min ago`
  return minutes < 48 * 60
    ? `${Math.round(minutes / 60)} h ago`
    : `${Math.round(minutes / 60 / 24)} days ago`
}

/** Prints each server of the node: where and from what it would come up, or why it does not. */
function tellServers({ servers, elsewhere }: NodeLoss, out: Output): void {
  const now = Date.now()
  for (const { name, to, contentAt, isMirrored, isUnderWay, why, failed } of servers) {
    const failure = failed === null ? '' : `  The last try failed: ${failed}.`
    if (isUnderWay) out.line(`${name}  is being brought up on ${to}${failure}`)
    else if (to === null)
      out.line(`${name}  stays: ${why?.en ?? 'no node has a place for it.'}${failure}`)
    else
      out.line(
        `${name}  comes up on ${to} from the ${isMirrored ? 'mirror' : 'backup'} of ${contentAt} ` +
          `(${ageOf(contentAt, now)}): what was written since is lost${failure}`,
      )
  }
  for (const { name, to, contentAt, keptUntil } of elsewhere)
    out.line(
      `${name}  came up on ${to} with its content of ${contentAt}; its old content ` +
        (keptUntil === null ? 'is kept once the node is back' : `is kept until ${keptUntil}`),
    )
}

/**
 * `node lost`: brings the servers of a permanently lost node up on other nodes, from their newest
 * backups. Answers 1 if it is refused; a dry run also prints its plan then.
 */
export async function nodeLostCommand(
  config: Config,
  databaseUrl: string,
  [node = '', ...words]: readonly string[],
  out: Output,
): Promise<number> {
  const given: Record<string, string> = {}
  let [dryRun, isOff] = [false, false]
  for (let at = 0; at < words.length; at++) {
    const [word = '', value] = words.slice(at, at + 2)
    if (word === '--dry-run') dryRun = true
    else if (word === '--powered-off') isOff = true
    else if (['--reason', '--server', '--key'].includes(word) && value !== undefined) {
      given[word] = value
      at++
    } else {
      out.refuse(usage)
      return 64
    }
  }
  if (!dryRun && given['--reason'] === undefined) {
    out.refuse(usage)
    return 64
  }
  if (!dryRun) {
    const fields = Object.entries(given).flat()
    const off = isOff ? 'yes' : 'no'
    const words = ['node.lost', '--node', node, '--poweredOff', off, ...fields]
    return await actCommand(config, databaseUrl, words, out)
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const loss = await lossOf(db, node, given['--server'] ?? null)
    const hindrance = hindranceOfLoss(loss, isOff)
    out.line(`Node ${node} was heard of ${ageOf(loss.heardAt, Date.now())} (${loss.heardAt}).`)
    tellServers(loss, out)
    out.line(hindrance ? `It would be refused: ${hindrance.en}` : 'Nothing was changed.')
    out.fields({ ...loss, dryRun, refused: hindrance?.en ?? null })
    return hindrance ? 1 : 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    out.refuse(`There is no node ${node}.`)
    return 1
  } finally {
    await close()
  }
}

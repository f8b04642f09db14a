/**
 * Writes docs/retention.md from the list in server/platform/retention.ts. `--check` fails when the
 * file is not current.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { given, retention, type Age, type Retention } from '../server/platform/retention.ts'

const target = path.resolve(import.meta.dirname, '../docs/retention.md')

const reasons: Readonly<Record<Retention['why'], string>> = {
  law: 'Because the law asks for it, or to prove what was done',
  money: 'Because money hangs on it',
  security: 'To protect accounts, servers and domains',
  use: 'Because the customer or the staff uses it',
  machine: 'Because the machine works with it',
}

/** Wraps a paragraph to lines of at most 100 columns; the first line begins with `mark`. */
function wrapped(text: string, mark = '', indent = ''): string {
  const lines = [mark]
  for (const word of text.trim().split(/\s+/)) {
    const line = lines.at(-1) ?? ''
    const longer = line.trim() === '' || line === mark ? `${line}${word}` : `${line} ${word}`
    if (longer.length > 100) lines.push(`${indent}${word}`)
    else lines[lines.length - 1] = longer
  }
  return lines.join('\n')
}

const condition = ({ column, is }: NonNullable<Age['only']>): string => {
  if (is === null) return ` where \`${column}\` is empty`
  return is === given ? ` where \`${column}\` is not empty` : ` where \`${column}\` is ${is}`
}

function spoken({ column, days, only }: Age): string {
  const when = days === 0 ? `once \`${column}\` is past` : `${days} days after \`${column}\``
  return only ? when + condition(only) : when
}

function time({ ages, end }: Retention): string {
  if (ages.length > 0) return `deleted ${ages.map(spoken).join(', and ')}.`
  return end === 'never' ? 'stays.' : 'goes with what it belongs to.'
}

/** The text of docs/retention.md. */
export function retentionPage(): string {
  const head = [
    '# How long rows are kept',
    wrapped(
      'Made by scripts/retention.ts from server/platform/retention.ts. The job `tidy` reads it ' +
        'hourly, and deletes what is too old in batches. A table without a time below goes ' +
        'with what it belongs to, or stays. Lawyer and accountant confirm the periods of the ' +
        'law before a provider promises them.',
    ),
    wrapped(
      'Jobs that ended well go after a day, those that failed after two weeks (`pgboss.job`). ' +
        'Backups of the whole portal keep everything as long as `BACKUP_TO_KEEP` says: what is ' +
        'erased today is gone from them when the last of today’s backups is.',
    ),
  ]
  const sections = Object.entries(reasons).map(([why, title]) => {
    const rows = Object.entries(retention as Readonly<Record<string, Retention>>)
      .filter(([, row]) => row.why === why)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([table, row]) => wrapped(`\`${table}\`: ${time(row)} ${row.text}`, '- ', '  '))
    return `## ${title}\n\n${rows.join('\n')}`
  })
  return `${[...head, ...sections].join('\n\n')}\n`
}

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(target, retentionPage())
  else if (readFileSync(target, 'utf8') !== retentionPage())
    throw new Error('docs/retention.md is not current: node scripts/retention.ts')
}

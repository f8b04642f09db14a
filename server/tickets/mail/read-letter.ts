/** Parses a letter to the support. It may come from anybody, so all of it is treated as hostile. */
import { createHash } from 'node:crypto'
import PostalMime, { addressParser } from 'postal-mime'
import { longestMessage } from '../../../contract/tickets.ts'
import { cutMarks } from '../letters.ts'
import { plainText } from '../store.ts'
import { textOfHtml } from './html-text.ts'

export interface Letter {
  readonly from: { readonly address: string; readonly name: string }
  readonly subject: string
  /** Without the quoted earlier text. */
  readonly text: string
  readonly files: readonly { readonly name: string; readonly content: Buffer }[]
  /** Written by a program: an answer to it might be answered by a program again. */
  readonly isAutomatic: boolean
  /** The same for each copy of it. */
  readonly hash: Buffer
}

const longestSubject = 150
const longestName = 100
/** Longer text is no letter from a person; the rest is ignored. */
const longestRead = 1_000_000
const address = /^[^\s<>()[\]\\,;:"@]{1,64}@[^\s<>()[\]\\,;:"@]{1,253}$/

const oneLine = (text: string, most: number): string =>
  plainText(text).replace(/\s+/g, ' ').trim().slice(0, most)

/** A program says so of itself in one of several ways (RFC 3834; lists; reports). */
function writtenByProgram(headers: ReadonlyMap<string, string>): boolean {
  const value = (name: string): string => headers.get(name)?.trim().toLowerCase() ?? ''
  return (
    (headers.has('auto-submitted') && !value('auto-submitted').startsWith('no')) ||
    /^(?:bulk|junk|list|auto_reply)/.test(value('precedence')) ||
    ['list-id', 'list-unsubscribe', 'x-autoreply', 'x-autorespond', 'x-loop'].some((name) =>
      headers.has(name),
    ) ||
    value('content-type').startsWith('multipart/report')
  )
}

/** The line above a quotation, in which mail programs name its writer and time. */
const intro = /(?:wrote|writes|đã viết|viết)\s*:\s*$/i

/** The new part of an answer, without our own letter and the quotation at its end. */
export function newPart(text: string): string {
  const marks = Object.values(cutMarks).flatMap((mark) => {
    const at = text.indexOf(mark)
    return at < 0 ? [] : [at]
  })
  const cut = marks.length === 0 ? text : text.slice(0, Math.min(...marks))
  const lines = cut.trimEnd().split('\n')
  while (lines.length > 0 && /^\s*(?:>.*)?$/.test(lines.at(-1) ?? '')) lines.pop()
  const isQuoting = cut.length < text.length || lines.length < cut.trimEnd().split('\n').length
  if (!isQuoting) return cut.trim()
  // Its words may be broken over some lines, which have an empty one above them.
  const above = lines.findLastIndex((line) => line.trim() === '')
  const own = above >= 0 && lines.length - above <= 4 ? above + 1 : lines.length - 1
  if (own > 0 && intro.test(lines.slice(own).join(' '))) lines.splice(own)
  return lines.join('\n').trim()
}

/** Undefined when the bytes are not a letter of exactly one sender. */
export async function readLetter(raw: Buffer): Promise<Letter | undefined> {
  const mail = await PostalMime.parse(raw, {
    attachmentEncoding: 'arraybuffer',
    maxNestingDepth: 20,
    maxHeadersSize: 65_536,
  }).catch(() => undefined)
  if (!mail) return undefined
  const headers = new Map(mail.headers.map(({ key, value }) => [key, value] as const))
  const senders = mail.headers.filter(({ key }) => key === 'from')
  const addresses = senders.flatMap(({ value }) => addressParser(value, { flatten: true }))
  const [sender] = addresses
  // Of two senders, one would be checked and the other shown.
  if (senders.length !== 1 || addresses.length !== 1 || !sender?.address) return undefined
  const from = sender.address.toLowerCase()
  if (!address.test(from)) return undefined
  const plain = mail.text?.slice(0, longestRead) ?? ''
  const whole = plainText(plain.trim() === '' ? textOfHtml(mail.html ?? '') : plain)
  const text = newPart(whole)
  const files = mail.attachments.map(({ filename, content }) => ({
    name: filename ?? 'file',
    content: Buffer.from(content as ArrayBuffer),
  }))
  if (text.length > longestMessage) files.push({ name: 'letter.txt', content: Buffer.from(text) })
  const id = mail.messageId ?? ''
  return {
    from: { address: from, name: oneLine(sender.name ?? '', longestName) },
    subject: oneLine(mail.subject ?? '', longestSubject) || '—',
    text: text.slice(0, longestMessage).toWellFormed() || '—',
    files,
    isAutomatic: writtenByProgram(headers),
    hash: createHash('sha256')
      .update(id === '' ? raw : `${from} ${id}`)
      .digest(),
  }
}

/** Files of tickets: uploads by members, and downloads. */
import type { Failure, Success } from '../../contract/endpoint.ts'
import { mostFileBytes, mostFiles, type TicketFile } from '../../contract/tickets.ts'
import { csrfHeaders, DeskError } from './api.ts'
import { deskLanguage, deskTexts } from './language.ts'

/** What is wrong with the chosen files; undefined: nothing. */
export function faultOf(files: readonly File[], already: number): string | undefined {
  const t = deskTexts().tickets
  const large = files.find(({ size }) => size > mostFileBytes)
  if (large) return t.tooLarge(large.name)
  return files.length + already > mostFiles ? t.tooMany : undefined
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(() => {
    throw new DeskError(deskTexts().noConnection, 'offline', 0)
  })
  if (response.ok) return response
  const failure = (await response.json().catch(() => undefined)) as Failure | undefined
  throw new DeskError(
    failure?.error.fields?.['files'] ?? failure?.message ?? deskTexts().failed,
    failure?.error.code ?? 'internal',
    response.status,
  )
}

/** Uploads a file. Throws DeskError. */
export async function uploadFile(file: File): Promise<TicketFile> {
  const name = encodeURIComponent(file.name.slice(-150))
  const response = await ask(`/api/operator/tickets/files?name=${name}`, {
    method: 'POST',
    headers: {
      ...csrfHeaders(),
      'Accept-Language': deskLanguage(),
      'Content-Type': 'application/octet-stream',
    },
    body: file,
  })
  return ((await response.json()) as Success<TicketFile>).result
}

/**
 * The address from which the browser downloads a file; it is served as an attachment, whatever its
 * type.
 */
export const addressOf = (ticketId: string, { id }: TicketFile): string =>
  `/api/operator/tickets/${ticketId}/files/${id}`

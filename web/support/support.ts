/** Reading and writing tickets. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Failure, Success } from '../../contract/endpoint.ts'
import {
  listTickets,
  mostFileBytes,
  mostFiles,
  showTicket,
  ticketObject,
  type TicketFile,
} from '../../contract/tickets.ts'
import { ApiError, call, callPage, signed } from '../api.ts'
import { enSupport, type SupportTexts } from '../i18n/en-support.ts'
import { currentLanguage, currentTexts, sentenceLanguage, useLanguage } from '../i18n/index.ts'
import { viSupport } from '../i18n/vi-support.ts'

export const useSupportTexts = (): SupportTexts => (useLanguage() === 'vi' ? viSupport : enSupport)

export const ticketListQuery = infiniteQueryOptions({
  queryKey: ['tickets', 'list'],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    callPage(listTickets, { query: { limit: 20, cursor: pageParam } }, { signal }),
  getNextPageParam: ({ next }) => next ?? undefined,
})

/** Events announce answers; this interval finds missed ones, ms. */
const lookMs = 20_000
export const ticketQuery = (id: string) =>
  queryOptions({
    queryKey: ['tickets', 'one', id],
    queryFn: ({ signal }) => call(showTicket, { params: { id } }, { signal }),
    refetchInterval: lookMs,
  })
export const objectQuery = (kind: string, id: string) =>
  queryOptions({
    queryKey: ['tickets', 'object', kind, id],
    queryFn: ({ signal }) => call(ticketObject, { params: { kind, id } }, { signal }),
    retry: false,
  })

/** A sentence that names the files that are not accepted; undefined: all are. */
export function faultOf(
  files: readonly File[],
  already: number,
  t: Pick<SupportTexts, 'tooLarge' | 'tooMany'>,
): string | undefined {
  const large = files.find(({ size }) => size > mostFileBytes)
  if (large) return t.tooLarge(large.name)
  return files.length + already > mostFiles ? t.tooMany : undefined
}

const offline = () =>
  new ApiError({ code: 'offline', status: 0, message: currentTexts().common.noConnection })

/** Uploads a file. Throws ApiError. */
export async function uploadFile(file: File): Promise<TicketFile> {
  const { response } = await signed('POST', (own) =>
    fetch(`/api/tickets/files?name=${encodeURIComponent(file.name.slice(-150))}`, {
      method: 'POST',
      headers: {
        ...own,
        'Content-Type': 'application/octet-stream',
        'Accept-Language': sentenceLanguage(currentLanguage()),
      },
      body: file,
    }).catch(() => {
      throw offline()
    }),
  )
  const body = (await response.json().catch(() => undefined)) as
    | Success<TicketFile>
    | Failure
    | undefined
  if (response.ok && body && 'result' in body) return body.result
  const failure = body as Failure | undefined
  throw new ApiError({
    code: failure?.error.code ?? 'internal',
    status: response.status,
    message: failure?.error.fields?.['files'] ?? failure?.message ?? currentTexts().toast.tryAgain,
  })
}

/** Downloads a file of a ticket under its own name. Throws ApiError. */
export async function downloadFile(ticketId: string, { id, name }: TicketFile): Promise<void> {
  const { response } = await signed('GET', (own) =>
    fetch(`/api/tickets/${ticketId}/files/${id}`, {
      headers: { ...own, 'Accept-Language': sentenceLanguage(currentLanguage()) },
    }).catch(() => {
      throw offline()
    }),
  )
  if (!response.ok) {
    const failure = (await response.json().catch(() => undefined)) as Failure | undefined
    throw new ApiError({
      code: failure?.error.code ?? 'internal',
      status: response.status,
      message: failure?.message ?? currentTexts().toast.tryAgain,
    })
  }
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/**
 * Uploads files in pieces. After a lost connection it waits, and continues where the server says
 * that it stopped; also after a reload, with the same files.
 */
import type { Failure, Success } from '../../contract/endpoint.ts'
import { getImportFile, pieceBytes, type Import } from '../../contract/wordpress-import.ts'
import { ApiError, call, signed } from '../api.ts'
import { currentTexts } from '../i18n/index.ts'

/** The first piece is small, so that a slow connection shows progress soon. */
const firstBytes = 524_288
/** A piece that took less time than this may be followed by a larger one, ms. */
const quickMs = 1_500
const longestPauseMs = 30_000

export interface UploadWatch {
  readonly signal: AbortSignal
  /** Bytes of all files together that have arrived. */
  readonly onProgress: (bytes: number) => void
  /** True: the connection is lost and waited for; false: it is back. */
  readonly onWaiting: (waiting: boolean) => void
}

/**
 * The chosen files in the order in which the upload listed them; undefined where they are not the
 * same files.
 */
export function inOrder(
  listed: Import['files'],
  files: readonly File[],
): readonly File[] | undefined {
  const ordered = listed.map(({ name, bytes }) =>
    files.find((file) => file.name === name && file.size === bytes),
  )
  const all = ordered.filter((file) => file !== undefined)
  return files.length === listed.length && all.length === listed.length ? all : undefined
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('cancelled', 'AbortError'))
    })
  })

/** Whether a retry may help: no response came, or the response was not about the piece. */
const isPassing = ({ status }: { readonly status: number }): boolean =>
  status === 0 || status === 429 || status >= 500

async function putPiece(
  siteId: string,
  importId: string,
  file: number,
  offset: number,
  piece: Blob,
  signal: AbortSignal,
): Promise<number> {
  const address =
    `/api/wp/${encodeURIComponent(siteId)}/import/${encodeURIComponent(importId)}` +
    `/files/${file}?offset=${offset}`
  const { response } = await signed('PUT', (own) =>
    fetch(address, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/octet-stream', ...own },
      body: piece,
      signal,
    }),
  )
  const body = (await response.json().catch(() => undefined)) as
    | Partial<Success<{ offset: number }> & Failure>
    | undefined
  if (response.ok && body?.result) return body.result.offset
  throw new ApiError({
    code: body?.error?.code ?? 'internal',
    status: response.status,
    message: typeof body?.message === 'string' ? body.message : currentTexts().toast.tryAgain,
  })
}

/** Resolves when everything has arrived. Rejects with ApiError, or when it is aborted. */
export async function uploadFiles(
  siteId: string,
  of: Pick<Import, 'id' | 'files'>,
  files: readonly File[],
  { signal, onProgress, onWaiting }: UploadWatch,
): Promise<void> {
  const arrived = of.files.map(({ received }) => received)
  const told = (): void => onProgress(arrived.reduce((sum, one) => sum + one, 0))
  let size = firstBytes
  for (const [index, file] of files.entries()) {
    let misses = 0
    while ((arrived[index] ?? 0) < file.size) {
      const offset = arrived[index] ?? 0
      const began = performance.now()
      try {
        const piece = file.slice(offset, offset + size)
        arrived[index] = await putPiece(siteId, of.id, index, offset, piece, signal)
        if (performance.now() - began < quickMs) size = Math.min(pieceBytes, size * 2)
        if (misses > 0) onWaiting(false)
        misses = 0
        told()
      } catch (error) {
        if (signal.aborted) throw error
        const failure = error instanceof ApiError ? error : { status: 0, code: 'offline' }
        // Another tab may have sent it, or the response was lost: the server knows the offset.
        const isElsewhere = failure.code === 'conflict'
        if (!isElsewhere && !isPassing(failure)) throw error
        if (!isElsewhere || misses > 3) {
          onWaiting(true)
          await pause(Math.min(longestPauseMs, 1_000 * 2 ** misses), signal)
        }
        misses++
        size = firstBytes
        arrived[index] = await offsetOf(siteId, of.id, index, offset, signal)
      }
    }
  }
  told()
}

/** The offset at which the upload continues; `known` where no response comes. */
async function offsetOf(
  siteId: string,
  importId: string,
  file: number,
  known: number,
  signal: AbortSignal,
): Promise<number> {
  try {
    const params = { id: siteId, importId, file: String(file) }
    return (await call(getImportFile, { params }, { signal })).offset
  } catch (error) {
    if (error instanceof ApiError && isPassing(error)) return known
    throw error
  }
}

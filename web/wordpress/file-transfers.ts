/** Uploads and downloads files of a server in pieces. */
import { pieceBytes, readFile, writeFile } from '../../contract/wordpress-files.ts'
import { call, newKey } from '../api.ts'

export const joined = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function toBase64(bytes: Uint8Array): string {
  let text = ''
  // One call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))

interface Way {
  readonly id: string
  readonly path: string
  readonly signal?: AbortSignal
  readonly onProgress?: (bytes: number) => void
}

/** Uploads a file. An existing file stays until the last piece. Throws ApiError. */
export async function sendFile(
  file: Blob,
  { id, path, replaces, signal, onProgress }: Way & { readonly replaces: boolean },
): Promise<void> {
  const upload = newKey()
  let offset = 0
  do {
    const piece = new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer())
    signal?.throwIfAborted()
    await call(
      writeFile,
      {
        params: { id },
        body: { path, upload, offset, data: toBase64(piece), total: file.size, replaces },
      },
      signal ? { signal } : {},
    )
    offset += piece.length
    onProgress?.(offset)
  } while (offset < file.size)
}

/** Downloads the whole file. Throws ApiError. */
export async function fetchFile({ id, path, signal, onProgress }: Way): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let offset = 0
  let bytes: number
  do {
    const answer = await call(
      readFile,
      { params: { id }, query: { path, offset } },
      signal ? { signal } : {},
    )
    bytes = answer.bytes
    const piece = fromBase64(answer.data)
    // The file became shorter during the download.
    if (piece.length === 0) break
    pieces.push(piece)
    offset += piece.length
    onProgress?.(offset)
  } while (offset < bytes)
  return new Blob(pieces)
}

/** Makes the browser save it under this name. */
export function keepFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

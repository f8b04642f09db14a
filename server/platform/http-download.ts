/** Fetches a file from a third party, with limits of time and size; no redirection is followed. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from './errors.ts'
import { tracedCall } from './http-client.ts'

/**
 * `file` is there once this resolves, whole. Throws DriverFailure: unavailable where no answer
 * comes or it breaks off; rejected where there is no such file, or it is longer than `maxBytes`.
 */
export async function downloadFile(of: {
  /** The third party's name for the failure's text. */
  readonly peer: string
  readonly url: string
  readonly file: string
  readonly maxBytes: number
  readonly timeoutMs: number
}): Promise<void> {
  const { peer, file } = of
  const unfinished = `${file}.${process.pid}.part`
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    await tracedCall(peer, () => fetchInto(unfinished, of))
    await fs.rename(unfinished, file)
  } catch (error) {
    await fs.rm(unfinished, { force: true })
    if (error instanceof DriverFailure) throw error
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
    throw new DriverFailure(
      isFull ? 'full' : 'unavailable',
      isFull ? 'the disk of the portal is full' : `${peer}: the file did not come whole`,
      { cause: error },
    )
  }
}

async function fetchInto(
  file: string,
  of: Pick<Parameters<typeof downloadFile>[0], 'peer' | 'url' | 'maxBytes' | 'timeoutMs'>,
): Promise<void> {
  const answer = await fetch(of.url, {
    redirect: 'manual',
    signal: AbortSignal.timeout(of.timeoutMs),
  })
  if (!answer.ok) {
    await answer.body?.cancel()
    const isForNow = answer.status >= 500 || answer.status === 429
    throw new DriverFailure(
      isForNow ? 'unavailable' : 'rejected',
      `${of.peer}: status ${answer.status} for a file`,
    )
  }
  const into = await fs.open(file, 'w', 0o600)
  try {
    let bytes = 0
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > of.maxBytes)
        throw new DriverFailure('rejected', `${of.peer}: a file longer than ${of.maxBytes} bytes`)
      await into.write(chunk)
    }
    await into.sync()
  } finally {
    await into.close()
  }
}

/**
 * Files being uploaded, with a queue for each server. The queues live outside the screens, so that
 * a customer who visits another page can return to them and stop them.
 */
import { useSyncExternalStore } from 'react'
import { ApiError, messageOf } from '../api.ts'
import { currentTexts } from '../i18n/index.ts'
import { session, subscribe } from '../session.ts'
import { toast } from '../ui/toast.ts'
import { nameOf, sendFile } from './file-transfers.ts'

export interface OneUpload {
  readonly key: number
  readonly file: globalThis.File
  readonly path: string
  /** `asking`: the customer must say whether an existing file is replaced. */
  readonly state: 'asking' | 'waiting' | 'sending' | 'failed'
  readonly sent: number
  readonly fault?: string
  /** The file is now in the list of files. */
  readonly onDone: () => void
}

let count = 0

/**
 * The uploads of one server, one after another. A finished one is removed, because the list of
 * files shows it.
 */
class UploadQueue {
  readonly #id: string
  #all: readonly OneUpload[] = []
  #last: Promise<void> = Promise.resolve()
  readonly #stops = new Map<number, AbortController>()
  readonly #listeners = new Set<() => void>()

  constructor(id: string) {
    this.#id = id
  }

  readonly all = () => this.#all
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  add(upload: Pick<OneUpload, 'file' | 'path' | 'onDone'>, isThere: boolean) {
    count += 1
    const one: OneUpload = {
      ...upload,
      key: count,
      sent: 0,
      state: isThere ? 'asking' : 'waiting',
    }
    this.#set([...this.#all, one])
    if (!isThere) this.#send(one, false)
  }

  replace(one: OneUpload) {
    this.#change(one.key, { state: 'waiting' })
    this.#send(one, true)
  }

  end(key: number) {
    this.#stops.get(key)?.abort()
    this.#stops.delete(key)
    this.#set(this.#all.filter((one) => one.key !== key))
  }

  endAll() {
    for (const { key } of this.#all) this.end(key)
  }

  isUnderWay(): boolean {
    return this.#all.some(({ state }) => state === 'waiting' || state === 'sending')
  }

  #set(all: readonly OneUpload[]) {
    this.#all = all
    for (const listener of this.#listeners) listener()
    guardPage()
  }

  #change(key: number, to: Partial<OneUpload>) {
    this.#set(this.#all.map((one) => (one.key === key ? { ...one, ...to } : one)))
  }

  #send({ key, file, path, onDone }: OneUpload, replaces: boolean) {
    const stop = new AbortController()
    this.#stops.set(key, stop)
    this.#last = this.#last.then(async () => {
      if (stop.signal.aborted) return
      this.#change(key, { state: 'sending' })
      try {
        await sendFile(file, {
          id: this.#id,
          path,
          replaces,
          signal: stop.signal,
          onProgress: (sent) => this.#change(key, { sent }),
        })
        this.end(key)
        onDone()
      } catch (error) {
        if (!stop.signal.aborted) this.#fail(key, path, error)
      }
    })
  }

  #fail(key: number, path: string, error: unknown) {
    const field = error instanceof ApiError ? Object.values(error.fields)[0] : undefined
    const fault = field ?? messageOf(error)
    this.#change(key, { state: 'failed', fault })
    // A locked screen must not reveal the names of files.
    if (this.#listeners.size === 0 && !session.locked())
      toast.badNews(currentTexts().toast.error, `${nameOf(path)}: ${fault}`)
  }
}

const queues = new Map<string, UploadQueue>()

const [account, held] = [session.view(), session.held()?.id]
/**
 * True once the session was locked: then the portal itself reloads the page, without a question.
 */
let isLeft = false
const ask = (event: BeforeUnloadEvent) => {
  const isSame = session.view() === account && session.held()?.id === held
  if (session.signedIn() && isSame && !isLeft) event.preventDefault()
}
/** Asks before the page is closed while an upload is running. */
function guardPage() {
  if ([...queues.values()].some((queue) => queue.isUnderWay()))
    addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
}

// Uploads belong to the customer who began them, so they end with that session.
subscribe(() => {
  isLeft ||= session.locked()
  if (!session.signedIn() || session.held()?.id !== held)
    for (const queue of queues.values()) queue.endAll()
})

/** The queue of one server, and its present content. */
export function useUploads(id: string) {
  let queue = queues.get(id)
  if (queue === undefined) queues.set(id, (queue = new UploadQueue(id)))
  return { queue, all: useSyncExternalStore(queue.subscribe, queue.all) }
}

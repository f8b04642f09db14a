// Creates, watches, changes and removes single containers of the engine.
import { randomBytes } from 'node:crypto'
import { limitsOf, type ContainerSpec, type HeldSize } from './containers.ts'
import { EngineError, type EngineApi } from './engine-api.ts'

/** The engine's head of each line of a container's log: eight bytes, most of which are 0. */
// oxlint-disable-next-line no-control-regex
const lineHead = /[\0-\u0008\u000B-\u001F]+./g

/** The part of `inspect` that is needed. */
export interface Inspected {
  /** The id of its image. */
  readonly Image: string
  readonly State: {
    readonly Running: boolean
    readonly Pid: number
    readonly ExitCode: number
    readonly OOMKilled: boolean
  }
}

export interface EngineContainers {
  /** Creates and starts a container; answers its id. */
  run(name: string, spec: ContainerSpec): Promise<string>
  /** Removes a container; where the engine is away, as soon as it answers again. */
  remove(id: string): Promise<void>
  /** Retries removals that failed. */
  removeLeft(): Promise<void>
  inspect(id: string): Promise<Inspected>
  /**
   * Resolves, with the way it ended in words, when the container has ended, or when the engine
   * itself is gone.
   */
  ended(id: string): Promise<string>
  lastWords(id: string): Promise<string>
  /** Changes the container's limits, without a restart. */
  resize(id: string, size: HeldSize): Promise<void>
  /** Removes every container of a site; answers how many there were. */
  removeOf(site: string): Promise<number>
}

/** @param owner marks the containers of this portal among all of the engine's */
export function engineContainers(api: EngineApi, owner: string): EngineContainers {
  /**
   * Containers that could not be removed because the engine was away: they may run again when it
   * does.
   */
  const left = new Set<string>()

  /** Creates and starts a container; answers its id. */
  async function run(name: string, spec: ContainerSpec): Promise<string> {
    await removeLeft()
    const full = `portal-${owner.slice(0, 8)}-${name}-${randomBytes(3).toString('hex')}`
    const made = (await api.call('POST', `/containers/create?name=${full}`, {
      body: spec,
    })) as { Id: string }
    try {
      await api.call('POST', `/containers/${made.Id}/start`)
      return made.Id
    } catch (error) {
      await remove(made.Id)
      throw error
    }
  }

  async function removeLeft(): Promise<void> {
    // A container that cannot be removed must not keep every site from starting.
    for (const one of left) await remove(one).catch(() => {})
  }

  async function remove(id: string): Promise<void> {
    try {
      await api.call('DELETE', `/containers/${id}?force=true&v=true`)
      left.delete(id)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      // Removed already, or being removed.
      if ([404, 409].includes(error.status)) left.delete(id)
      else if (error.status === 0) left.add(id)
      else throw error
    }
  }

  const inspect = async (id: string): Promise<Inspected> =>
    (await api.call('GET', `/containers/${id}/json`)) as Inspected

  /**
   * Resolves, with the way it ended in words, when the container has ended, or when the engine
   * itself is gone.
   */
  async function ended(id: string): Promise<string> {
    try {
      const { StatusCode } = (await api.call('POST', `/containers/${id}/wait`, {
        waits: true,
      })) as { StatusCode: number }
      const state = await inspect(id).catch(() => null)
      return state?.State.OOMKilled ? 'it took more memory than its plan has' : `code ${StatusCode}`
    } catch (error) {
      return `the engine: ${(error as Error).message}`
    }
  }

  async function lastWords(id: string): Promise<string> {
    const said = await api
      .text(`/containers/${id}/logs?stdout=1&stderr=1&tail=5`)
      .catch(() => 'no word from it')
    return said.replace(lineHead, '').trim().slice(-4_000)
  }

  async function resize(id: string, size: HeldSize): Promise<void> {
    await api.call('POST', `/containers/${id}/update`, { body: limitsOf(size) })
  }

  async function removeOf(site: string): Promise<number> {
    const filters = JSON.stringify({ label: [`portal.owner=${owner}`, `portal.site=${site}`] })
    const found = (await api.call(
      'GET',
      `/containers/json?all=true&filters=${encodeURIComponent(filters)}`,
    )) as { Id: string }[]
    for (const { Id } of found) await remove(Id)
    return found.length
  }

  return { run, remove, removeLeft, inspect, ended, lastWords, resize, removeOf }
}

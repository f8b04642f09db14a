/**
 * Updates without an owner's request: waves of the operator over several sites, which stop at a bad
 * release, and security releases at night.
 */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Update, UpdatePolicy, Updates } from '../../contract/wordpress-updates.ts'
import { pluginMain, pluginSlug } from '../../sandbox/wordpress/releases.ts'
import { installRelease } from '../../test/installed-software.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { updatesCommand } from '../commands/updates.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { holdServer, releaseServer } from './desk.ts'
import type { WaveShown } from './update-waves.ts'
import { decideStage, stageOf } from './update-waves.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestCustomer
const ids: string[] = []
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  owner = await portal.customer()
  await portal.topUp(owner, 20_000_000)
  for (let count = 0; count < 5; count++) ids.push((await orderServer(portal, owner)).id)
  ids.sort()
  for (const id of ids) installRelease(folder(id), pluginSlug, '1.0.0')
}, 120_000)
afterAll(() => portal.close())

const folder = (id: string) => path.join(portal.dataDir, 'sites', id)
const versions = () =>
  ids.map(
    (id) =>
      /Version: ([\d.]+)/.exec(
        fs.readFileSync(path.join(folder(id), 'wordpress/wp-content/plugins', pluginMain), 'utf8'),
      )?.[1],
  )
/** Publishes a release in the directory, and runs the portal's rounds. */
async function publish(version: string): Promise<void> {
  await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest: { [pluginSlug]: version } }),
  })
  clock.advance(hours(7))
  owner = await portal.signIn(owner)
  await portal.app.updateRounds.listDue(AbortSignal.timeout(60_000))
  await portal.app.updateRounds.askDirectory()
}
/** Runs the command as an operator types it, with --json. */
async function command(...options: string[]) {
  const fields: Record<string, unknown> = {}
  let refused = ''
  const config = { ...portal.config, PORTAL_SECRET: portal.rootSecret }
  const code = await updatesCommand(config, portal.databaseUrl, options, {
    line: () => undefined,
    fields: (values) => void Object.assign(fields, values),
    refuse: (text) => (refused = text),
    end: () => undefined,
  })
  return { code, fields, refused }
}
const waveOf = async (id: unknown): Promise<WaveShown> =>
  ((await command('status', String(id))).fields['waves'] as WaveShown[])[0] as WaveShown
const settled = (id: unknown, state: string): Promise<WaveShown> =>
  eventually(
    `the wave is ${state}`,
    async () => {
      const wave = await waveOf(id)
      return wave.state === state && wave
    },
    90,
  )
const historyOf = async (id: string) =>
  (await portal.call<Update[]>('GET', `/api/wp/${id}/updates/history`, { token: owner.token })).body
    .result

test('a stage ends a wave when more than its share went wrong', () => {
  expect(decideStage({ total: 1, bad: 1, open: 0 }, 10)).toBe('stop')
  expect(decideStage({ total: 10, bad: 1, open: 9 }, 10)).toBe('go_on')
  expect(decideStage({ total: 10, bad: 2, open: 8 }, 10)).toBe('stop')
  expect(decideStage({ total: 10, bad: 1, open: 0 }, 10)).toBe('next')
  expect(decideStage({ total: 0, bad: 0, open: 0 }, 0)).toBe('next')
  expect([0, 1, 10, 11, 5000].map((place) => stageOf(place, [1, 10, 0]))).toEqual([0, 1, 1, 2, 2])
})

describe('a wave', { timeout: 120_000 }, () => {
  test('is planned, tried dry, started, and done stage by stage', async () => {
    await publish('1.0.1')
    const dry = await command('plan', '--stages', '1,3', '--dry-run')
    expect(dry.code).toBe(0)
    expect(dry.fields['wave']).toBeUndefined()
    expect(await portal.app.db.selectFrom('update_wave').selectAll().execute()).toEqual([])
    const { code, fields } = await command('plan', '--stages', '1,3')
    expect(code).toBe(0)
    expect(
      (fields['sites'] as { siteId: string; stage: number }[]).map(({ siteId, stage }) => [
        siteId,
        stage,
      ]),
    ).toEqual(ids.map((id, place) => [id, [1, 2, 2, 2, 3][place]]))
    const wave = fields['wave']
    expect((await waveOf(wave)).state).toBe('planned')
    expect((await command('pause', String(wave))).code).toBe(1)
    // A dry run of a start changes nothing.
    await command('start', String(wave), '--dry-run')
    expect((await waveOf(wave)).state).toBe('planned')
    expect((await command('start', String(wave))).code).toBe(0)
    // All are one customer's: no more than two of them wait or run at a time.
    let most = 0
    await eventually(
      'the wave is done',
      async () => {
        const { state, sites } = await waveOf(wave)
        most = Math.max(most, 5 - (sites['planned'] ?? 0) - (sites['done'] ?? 0))
        return state === 'done'
      },
      90,
    )
    expect((await waveOf(wave)).sites).toEqual({ done: 5 })
    expect(most).toBe(2)
    expect(versions()).toEqual(Array.from(ids, () => '1.0.1'))
    expect((await historyOf(ids[4] ?? ''))[0]).toMatchObject({ cause: 'wave', state: 'done' })
    expect((await command('plan')).fields['sites']).toEqual([])
    const trail = await portal.app.db
      .selectFrom('operator_act')
      .select(['act', 'subject_id', 'reason', 'before', 'after'])
      .orderBy('seq')
      .execute()
    expect(trail).toMatchObject([
      {
        act: 'updates.plan',
        subject_id: String(wave),
        reason: 'plan by command',
        after: { waveSites: 5, stages: [1, 3, 0], stopPercent: 10, releases: 'all' },
      },
      {
        act: 'updates.start',
        before: { waveState: 'planned' },
        after: { waveState: 'running', stopPercent: 10 },
      },
    ])
  })

  test('stops by itself at a bad release, and is resumed when the operator says so', async () => {
    await publish('1.1.0')
    const { fields } = await command('plan', '--stages', '1,2')
    const wave = fields['wave']
    await command('start', String(wave))
    const stopped = await settled(wave, 'stopped')
    expect(stopped.sites).toEqual({ rolled_back: 1, skipped: 4 })
    expect(stopped.trouble).toMatchObject([{ siteId: ids[0], state: 'rolled_back' }])
    expect(versions()).toEqual(Array.from(ids, () => '1.0.1'))
    // A stopped wave waits for the operator: a monitor sees it.
    expect((await command()).code).toBe(1)
    const metrics = await (await fetch(`${portal.url}/metrics`)).text()
    expect(metrics).toMatch(/^portal_update_waves_stopped 1$/m)
    // The release is withdrawn; the wave continues without any site left to update.
    await publish('1.0.1')
    expect((await command('resume', String(wave), '--stop-percent', '100')).code).toBe(0)
    const done = await settled(wave, 'done')
    expect(done.sites).toEqual({ rolled_back: 1, skipped: 4 })
    expect((await command()).code).toBe(0)
  })

  test('can be paused, cancelled, and typed wrong', async () => {
    await publish('1.0.2')
    const wave = (await command('plan', '--stages', '1', '--scope', 'security')).fields['wave']
    await command('start', String(wave))
    await command('pause', String(wave))
    expect((await waveOf(wave)).state).toMatch(/paused|done/)
    await command('cancel', String(wave))
    const { sites } = await waveOf(wave)
    expect((sites['planned'] ?? 0) + (sites['waiting'] ?? 0)).toBe(0)
    await eventually('nothing is under way', async () => {
      const open = await portal.app.db
        .selectFrom('site_update')
        .select('id')
        .where('ended_at', 'is', null)
        .execute()
      return open.length === 0
    })
    for (const wrong of [
      ['plan', '--stages', '0,1'],
      ['plan', '--stages', 'x'],
      ['plan', '--stop-percent', '101'],
      ['plan', '7'],
      ['start'],
      ['start', 'x'],
      ['start', '1', '--stop-percent', '50'],
      ['nonsense'],
      ['plan', '--unknown'],
    ])
      expect((await command(...wrong)).code, wrong.join(' ')).toBe(64)
    expect(await command('start', '999')).toMatchObject({
      code: 1,
      refused: expect.any(String) as string,
    })
    expect((await command('status', '999')).code).toBe(1)
  })
})

describe('at night', { timeout: 120_000 }, () => {
  const [first = ''] = ids
  const site = () => ids[0] ?? first
  const updates = async () =>
    (await portal.call<Updates>('GET', `/api/wp/${site()}/updates`, { token: owner.token })).body
      .result
  const choose = (policy: UpdatePolicy) =>
    portal.call('PUT', `/api/wp/${site()}/updates/policy`, { token: owner.token, body: { policy } })
  /**
   * Moves the clock into this site's night; answers its update, if there was one, when that has
   * ended.
   */
  async function night(): Promise<Update | undefined> {
    const before = (await historyOf(site())).map(({ id }) => id)
    // The first round gives each site its time of the night.
    await portal.app.updateRounds.beginDue()
    const nightOf = async (): Promise<{ at: number; isRunning: boolean }> => {
      const { automatic_at: at, status } = await portal.app.db
        .selectFrom('site_software as w')
        .innerJoin('site as s', 's.id', 'w.site_id')
        .select(['w.automatic_at', 's.status'])
        .where('w.site_id', '=', site())
        .executeTakeFirstOrThrow()
      return { at: (at ?? clock.now()).getTime(), isRunning: status === 'running' }
    }
    clock.advance((await nightOf()).at - clock.now().getTime() + minutes(1))
    owner = await portal.signIn(owner)
    await portal.app.updateRounds.askDirectory()
    for (;;) {
      await portal.app.updateRounds.beginDue()
      await eventually('nothing is under way', async () => {
        const open = await portal.app.db
          .selectFrom('site_update')
          .select('id')
          .where('ended_at', 'is', null)
          .execute()
        return open.length === 0
      })
      // Other servers of its owner may come before it; one that does not run is not decided on.
      const { at, isRunning } = await nightOf()
      if (at > clock.now().getTime() || !isRunning) break
    }
    return (await historyOf(site())).find(({ id }) => !before.includes(id))
  }

  test('a security release comes by itself, another one does not', async () => {
    installRelease(folder(site()), pluginSlug, '1.0.0')
    await publish('1.0.1')
    const { nextAutomaticAt } = await updates()
    expect(new Date(nextAutomaticAt ?? 0).getTime()).toBeGreaterThan(clock.now().getTime())
    expect(await night()).toBeUndefined()
    await publish('1.0.2')
    expect(await night()).toMatchObject({ cause: 'automatic', state: 'done' })
    expect(versions()[0]).toBe('1.0.2')
    // A success is shown in the history only.
    expect((await portal.inbox(owner.email)).some(({ text }) => text.includes('1.0.2'))).toBe(false)
  })

  test('unless its owner wants none, or all', async () => {
    installRelease(folder(site()), pluginSlug, '1.0.0')
    expect((await choose('none')).status).toBe(200)
    await publish('1.0.2')
    expect(await night()).toBeUndefined()
    await choose('all')
    await publish('1.0.1')
    expect(await night()).toMatchObject({ state: 'done' })
    expect((await choose('sometimes' as UpdatePolicy)).status).toBe(422)
    await choose('security')
  })

  test('a bad one is put back, and not tried the next night', async () => {
    await publish('1.1.0')
    // The release was rolled back at this site in the wave above.
    expect(await night()).toBeUndefined()
    await portal.app.db
      .deleteFrom('site_update')
      .where('site_id', '=', site())
      .where('state', '=', 'rolled_back')
      .execute()
    expect(await night()).toMatchObject({ cause: 'automatic', state: 'rolled_back' })
    expect(versions()[0]).toBe('1.0.1')
    expect(await night()).toBeUndefined()
  })

  test('a suspended server waits until it runs again', async () => {
    await publish('1.0.2')
    /** Acts as the operator does; waits until the server follows, whichever round comes first. */
    async function put(act: typeof holdServer, status: string): Promise<void> {
      await transaction(portal.app.db, (tx) =>
        act(tx, { clock, jobs: portal.app.jobs }, site(), 'We look into a complaint'),
      )
      await eventually(`the server is ${status}`, async () => {
        const { status: now } = await portal.app.db
          .selectFrom('site')
          .select('status')
          .where('id', '=', site())
          .executeTakeFirstOrThrow()
        return now === status
      })
    }
    await put(holdServer, 'suspended')
    const wave = (await command('plan', '--stages', '1')).fields['wave']
    await command('start', String(wave))
    await settled(wave, 'done')
    expect((await historyOf(site()))[0]).toMatchObject({ state: 'skipped', reason: 'not_running' })
    expect(await night()).toBeUndefined()
    await put(releaseServer, 'running')
    expect(await night()).toMatchObject({ state: 'done' })
    expect(versions()[0]).toBe('1.0.2')
  })
})

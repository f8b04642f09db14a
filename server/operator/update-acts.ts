/** Waves of updates: planned, started, paused, resumed, cancelled (decision 141). */
import type { ActInput } from '../../contract/operator-acts.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { moveWave, planSites, planWave, type WaveMove } from '../wordpress/index.ts'
import type { ActNeeds, Actor, Done, RegistryOf } from './acts.ts'

const nothingToInstall: Sentence = {
  en: 'No site has anything to install.',
  vi: 'Không trang web nào có bản cập nhật cần cài.',
}
const noWave = (wave: number): Sentence => ({
  en: `There is no wave ${wave}.`,
  vi: `Không có đợt ${wave}.`,
})
const said: Readonly<Record<WaveMove, { readonly en: string; readonly vi: string }>> = {
  start: { en: 'start', vi: 'bắt đầu' },
  pause: { en: 'pause', vi: 'tạm dừng' },
  resume: { en: 'resume', vi: 'chạy tiếp' },
  cancel: { en: 'cancel', vi: 'huỷ' },
}

const subject = (wave: number | bigint) => ({ kind: 'update_wave', id: String(wave) })

function moves<M extends WaveMove>(move: M) {
  return {
    async run(
      tx: Tx,
      needs: ActNeeds,
      _actor: Actor,
      input: ActInput<`updates.${M}`> & { readonly wave: number; readonly stopPercent?: number },
    ): Promise<Done> {
      const { wave, stopPercent } = input
      try {
        const changed = await moveWave(tx, needs, BigInt(wave), move, stopPercent)
        return {
          subject: subject(wave),
          before: { ...changed.before },
          after: { ...changed.after },
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const why =
          error.code === 'not_found'
            ? noWave(wave)
            : {
                en: `Wave ${wave} is in a state in which it cannot ${said[move].en}.`,
                vi: `Trạng thái của đợt ${wave} không cho phép ${said[move].vi}.`,
              }
        throw new Refusal(error.code, { fields: { wave: why } })
      }
    },
  }
}

export const updateActs: RegistryOf<'updates'> = {
  'updates.plan': {
    async run(tx, needs, _actor, wanted) {
      const sites = await planSites(tx, needs.clock, wanted)
      if (sites.length === 0) throw new Refusal('conflict', { fields: { scope: nothingToInstall } })
      const wave = await planWave(tx, needs, wanted, sites)
      const { stages, stopPercent, scope } = wanted
      return {
        subject: subject(wave),
        before: null,
        after: {
          wave: Number(wave),
          waveState: 'planned',
          waveSites: sites.length,
          stages,
          stopPercent,
          releases: scope,
        },
      }
    },
  },
  'updates.start': moves('start'),
  'updates.pause': moves('pause'),
  'updates.resume': moves('resume'),
  'updates.cancel': moves('cancel'),
}

/** Acts that tell everybody something. */
import type { ActInput } from '../../contract/operator-acts.ts'
import { addUpdate, end, publish } from '../status/index.ts'
import type { RegistryOf } from './acts.ts'

const momentOf = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : new Date(text)
const about = (id: string) => ({ subject: { kind: 'notice', id }, customerId: null }) as const
const bothOf = ({ textEn, textVi }: Pick<ActInput<'status.update'>, 'textEn' | 'textVi'>) => ({
  en: textEn,
  vi: textVi,
})

export const statusActs: RegistryOf<'status'> = {
  'status.publish': {
    async run(tx, { clock }, _actor, input) {
      const { kind, titleEn, titleVi, startsAt, endsAt, closes } = input
      const id = await publish(tx, clock, {
        kind,
        title: { en: titleEn, vi: titleVi },
        text: bothOf(input),
        startsAt: momentOf(startsAt),
        endsAt: momentOf(endsAt),
        closes: closes === 'yes',
      })
      return {
        ...about(id),
        before: null,
        after: { kind, title: titleEn, closes: closes === 'yes', endsAt: endsAt ?? null },
      }
    },
  },
  'status.update': {
    async run(tx, { clock }, _actor, input) {
      const title = await addUpdate(tx, clock, { id: input.notice, text: bothOf(input) })
      return { ...about(input.notice), before: null, after: { title, text: input.textEn } }
    },
  },
  'status.end': {
    async run(tx, { clock }, _actor, { notice }) {
      const title = await end(tx, clock, notice)
      return { ...about(notice), before: { title, over: false }, after: { title, over: true } }
    },
  },
}

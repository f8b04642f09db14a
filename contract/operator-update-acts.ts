/** The acts on waves of updates over all sites (decision 141). */
import * as z from 'zod/mini'
import { needed } from './operator-act.ts'

/** The number of the wave. */
const wave = z.coerce.number().check(z.int(), z.gte(1), z.lte(Number.MAX_SAFE_INTEGER))
/** The wave stops when more than this percentage of a stage fails. */
const stopPercent = z.coerce.number().check(z.int(), z.gte(0), z.lte(100))
/** Sites in a stage; 0: all that are left, which is only allowed for the last stage. */
const stage = z.coerce.number().check(z.int(), z.gte(0), z.lte(999_999))

export const updateActs = {
  'updates.plan': needed(
    'updates.plan',
    'work',
    'Plan updates of all sites in stages; nothing begins before it is started',
    {
      stages: z.array(stage).check(
        z.minLength(1),
        z.maxLength(20),
        z.refine((sizes) => sizes.slice(0, -1).every((size) => size > 0)),
      ),
      stopPercent,
      scope: z.enum(['security', 'all']),
    },
  ),
  'updates.start': needed('updates.start', 'work', 'Start a wave of updates that is planned', {
    wave,
  }),
  'updates.pause': needed('updates.pause', 'work', 'Pause a wave of updates; what has begun ends', {
    wave,
  }),
  'updates.resume': needed(
    'updates.resume',
    'work',
    'Resume a wave of updates that is paused, or that stopped by itself',
    { wave, stopPercent: z.optional(stopPercent) },
  ),
  'updates.cancel': needed(
    'updates.cancel',
    'work',
    'Cancel a wave of updates; what has begun ends, the rest is left',
    { wave },
  ),
} as const

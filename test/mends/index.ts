/** How each mend is removed, for `npm run guards`. */
import { desk } from './desk.ts'
import { hosting } from './hosting.ts'
import { mailAndShares } from './mail-and-shares.ts'
import type { Mend } from './mend.ts'
import { money } from './money.ts'
import { operating } from './operating.ts'
import { programs } from './programs.ts'
import { scale } from './scale.ts'
import { screens } from './screens.ts'
import { security } from './security.ts'
import { server } from './server.ts'
import { members } from './team.ts'
import { tickets } from './tickets.ts'
import { views } from './views.ts'

export const mends: readonly Mend[] = [
  ...security,
  ...server,
  ...money,
  ...hosting,
  ...mailAndShares,
  ...scale,
  ...screens,
  ...operating,
  ...programs,
  ...tickets,
  ...members,
  ...views,
  ...desk,
]

/** The operator's desk: its staff and their acts. */
import type { RefuseBreached } from './auth/index.ts'
import * as operator from './operator/index.ts'
import { nodeKeysOf } from './own-node.ts'
import type { Http } from './platform/http.ts'
import type { Jobs } from './platform/jobs.ts'
import type { Limits } from './platform/limits.ts'
import type { Secrets } from './platform/secrets.ts'
import * as staff from './staff/index.ts'

type DeskDeps = Omit<Parameters<typeof operator.routes>[1], 'invitations' | 'nodeKeys'> & {
  readonly jobs: Pick<Jobs, 'add' | 'define'>
  readonly refuseBreached: RefuseBreached
  readonly limits: Limits
  readonly secrets: Secrets
}

export function operatorDesk(http: Http, deps: DeskDeps): void {
  const { limits } = deps
  const invitations = staff.createInvitations(deps)
  staff.routes(http, {
    ...deps,
    signIn: staff.createStaffSignIn({
      ...deps,
      failuresOfNetwork: limits.limit('staff-login'),
    }),
    invitations,
    invitationTries: limits.limit('staff-invitation'),
  })
  operator.defineEndedProposals(deps)
  operator.routes(http, { ...deps, invitations, nodeKeys: nodeKeysOf(deps) })
}

import {
  operatorActs,
  operatorCatalog as catalogApi,
  operatorDesk as api,
  operatorImports as importsApi,
  operatorMoney as moneyApi,
  operatorPrivacy,
  operatorWebhooks as outgoingApi,
  type Endpoint,
} from '../../contract/index.ts'
import type { ActName, ActOutcome } from '../../contract/operator-acts.ts'
import { openView } from '../auth/index.ts'
import { accountingCsv, listCoupons } from '../billing/index.ts'
import { catalogAtDesk } from '../catalog/index.ts'
import { listImports } from '../customer-import/index.ts'
import {
  decodeTimeCursor,
  encodeCursor,
  encodeTimeCursor,
  pageRequest,
} from '../platform/cursor.ts'
import { onCommit } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http, type StaffCaller } from '../platform/http.ts'
import {
  disputeOf,
  holdingsOfGateways,
  listDisputes,
  listPayouts,
  listVouchers,
  openQuestions,
  payoutOf,
  waitingInSuspense,
} from '../payments/index.ts'
import { requestsOfDesk } from '../privacy/index.ts'
import { creditDebtPage } from '../wallet/index.ts'
import { listOutgoing, outgoingDeliveries } from '../webhooks/index.ts'
import type { ActNeeds, Actor } from './acts.ts'
import { listRoutes, withCustomers, type ListNeeds } from './lists.ts'
import { previewOf, previewOfProposal } from './catalog-preview.ts'
import { perform, wantedOf } from './perform.ts'
import { previewImport } from './import-preview.ts'
import { foresee } from './foresee.ts'
import { approve, listProposals, nobodyApproves, reject } from './proposals.ts'
import { search, type SearchNeeds } from './search.ts'
import { storyOf, type StoryNeeds } from './story.ts'
import { listActs, verifyTrail } from './trail.ts'
import { workOf } from './work-acts.ts'

const known = (staff: StaffCaller | undefined): StaffCaller => {
  if (!staff) throw new Refusal('unauthenticated')
  return staff
}
const actorOf = (
  { staffId, sessionId, name, role, expiresAt }: StaffCaller,
  ip: string,
): Actor => ({
  staffId,
  name,
  role,
  address: ip,
  session: { id: sessionId, expiresAt },
})

/** The body of every act has a reason and a key, beside the act's own fields. */
type ActEndpoint = Omit<Endpoint, 'body' | 'result'> & {
  readonly body: (typeof operatorActs)['customer.note']['body']
  readonly result: (typeof operatorActs)['customer.note']['result']
}

export function routes(
  http: Http,
  needs: ActNeeds &
    SearchNeeds &
    StoryNeeds &
    ListNeeds & {
      readonly zone: string
      /** Adds values that are not stored, such as links, to a payload. */
      readonly complete: (payload: object) => object
    },
): void {
  const { db } = needs
  for (const [name, endpoint] of Object.entries(operatorActs) as [ActName, ActEndpoint][])
    http.write(endpoint, async ({ tx, staff, ip, body, language }): Promise<ActOutcome> => {
      const actor = actorOf(known(staff), ip)
      const { told: _told, ...outcome } = await perform(tx, needs, actor, wantedOf(name, body))
      return outcome.approvers === 0 ? { ...outcome, notice: nobodyApproves[language] } : outcome
    })
  http.read(api.search, ({ query }) => search(needs, query.q))
  http.read(api.customer, ({ params, language }) => storyOf(needs, params.id, language))
  http.write(api.openView, async ({ tx, staff, body }) => {
    const by = known(staff)
    const { id, token, expiresAt, customer } = await openView(tx, needs.clock, body.ticket, by)
    onCommit(tx, () =>
      needs.log.info(
        { event: 'account_view', view: id, staff: by.staffId, customer: customer.id },
        'a member of the staff sees the portal as a customer does',
      ),
    )
    return { token, expiresAt: expiresAt.toISOString(), customer }
  })
  http.read(api.trail, async ({ query, language }) => {
    const { rows, next } = await listActs(db, pageRequest(query, language), query)
    return new Page(rows, encodeCursor(next))
  })
  http.read(api.verifyTrail, () => verifyTrail(db))
  http.read(api.proposals, ({ staff }) => listProposals(db, needs.clock.now(), known(staff)))
  http.read(api.previewProposal, ({ staff, ip, params, language }) =>
    foresee(needs, known(staff), { id: params.id, address: ip, language }),
  )
  http.write(api.approveProposal, async ({ tx, staff, ip, params }) => ({
    act: await approve(tx, needs, known(staff), { id: params.id, address: ip }),
  }))
  http.write(api.rejectProposal, async ({ tx, staff, ip, params, body }) => {
    const of = { id: params.id, reason: body.reason, address: ip }
    await reject(tx, needs, known(staff), of)
    return null
  })
  http.read(operatorPrivacy.dataRequests, ({ query }) =>
    requestsOfDesk(db, needs.clock, query.show),
  )
  http.write(importsApi.previewCustomerImport, ({ tx, staff, ip, body, language }) =>
    previewImport(tx, needs, actorOf(known(staff), ip), { ...body, language }),
  )
  http.read(importsApi.customerImports, () => listImports(db))
  http.read(catalogApi.catalog, () => catalogAtDesk(db))
  // It only reads, but its input is too long for an address.
  http.read(catalogApi.previewCatalog, ({ body }) => previewOf(db, needs, body))
  http.read(catalogApi.previewProposedCatalog, ({ params }) =>
    previewOfProposal(db, needs, params.id),
  )
  http.read(api.work, () => workOf(db))
  listRoutes(http, needs)
  http.read(outgoingApi.listOperatorWebhooks, () => listOutgoing(db, needs.clock))
  http.read(outgoingApi.listOperatorDeliveries, async ({ params, query, language }) => {
    const page = pageRequest(query, language)
    const { webhook, rows, next } = await outgoingDeliveries(needs, params.id, page)
    return new Page({ webhook, deliveries: rows }, encodeCursor(next))
  })
  http.read(api.suspense, () => waitingInSuspense(db, needs.drivers))
  http.read(moneyApi.disputes, async ({ query, language }) => {
    const page = pageRequest(query, language)
    const { rows, next } = await listDisputes(needs, page, query.show === 'open')
    return new Page(await withCustomers(db, rows), encodeCursor(next))
  })
  http.read(moneyApi.dispute, async ({ params }) => {
    const found = await disputeOf(needs, params.id)
    const [shown] = await withCustomers(db, [found])
    if (!shown) throw new Refusal('not_found')
    return shown
  })
  http.read(moneyApi.payouts, async ({ query, language }) => {
    const { rows, next } = await listPayouts(needs, pageRequest(query, language))
    return new Page(rows, encodeCursor(next))
  })
  http.read(moneyApi.payout, ({ params }) => payoutOf(needs, params.id))
  http.read(moneyApi.holdings, () => holdingsOfGateways(needs))
  http.read(moneyApi.reconciliation, () => openQuestions(needs, needs.clock.now()))
  http.file(moneyApi.accountingExport, async ({ params, query }) => ({
    name: `${params.name}-${query.from}-${query.to}.csv`,
    type: 'text/csv; charset=utf-8',
    chunks: accountingCsv({ db, zone: needs.zone }, params.name, query),
  }))
  http.read(moneyApi.creditDebts, async ({ query, language }) => {
    const { rows, next } = await creditDebtPage(db, {
      age: query.age,
      now: needs.clock.now(),
      limit: query.limit ?? 50,
      after: decodeTimeCursor(query.cursor, language),
    })
    return new Page(await withCustomers(db, rows), encodeTimeCursor(next))
  })
  http.read(moneyApi.coupons, async ({ query, language }) => {
    const page = pageRequest(query, language)
    const { rows, next } = await listCoupons(db, page, needs.clock.now())
    return new Page(rows, encodeCursor(next))
  })
  http.read(moneyApi.vouchers, async ({ query, language }) => {
    const page = pageRequest(query, language)
    const { rows, next } = await listVouchers(db, page, needs.clock.now())
    return new Page(rows, encodeCursor(next))
  })
}

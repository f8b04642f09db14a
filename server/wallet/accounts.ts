/** Names of the ledger's accounts. */
import { currencies, type Currency } from '../../contract/money.ts'

/** Our debt to one customer. The only kind of account that may never be negative. */
export const walletOf = (customerId: string): string => `wallet:${customerId}`
/** Money that a gateway holds for us; negative while it has not paid out. */
export const gatewayOf = (driver: string, currency: Currency): string =>
  `gateway:${driver}:${currency}`
/** Money that came through a gateway and matches no payment of ours. */
export const suspenseOf = (driver: string, currency: Currency): string =>
  `suspense:${driver}:${currency}`
/** Sales of a product. */
export const revenueOf = (product: string, currency: Currency): string =>
  `revenue:${product}:${currency}`
/** The product and currency in a revenue account's name. Undefined: it is no revenue account. */
export function productOfRevenue(
  code: string,
): { readonly product: string; readonly currency: Currency } | undefined {
  const [, product, name] = /^revenue:(.+):([A-Z]{3})$/.exec(code) ?? []
  const currency = currencies.find((known) => known === name)
  return product === undefined || currency === undefined ? undefined : { product, currency }
}
/** Money on its way back to its source: taken from the wallet, not yet confirmed by the gateway. */
export const payableOf = (driver: string, currency: Currency): string =>
  `payable:${driver}:${currency}`
/** Customers' debts because a bank took back more than their wallets held; negative. */
export const receivableOf = (driver: string, currency: Currency): string =>
  `receivable:${driver}:${currency}`
/** Loans on customers' credit lines that are still owed; negative. */
export const lentOf = (currency: Currency): string => receivableOf('credit-line', currency)
/** Money that the operator put into wallets by hand minus what was taken out; normally negative. */
export const adjustmentOf = (currency: Currency): string => `adjustment:${currency}`
/** Money that vouchers put into wallets; negative. */
export const voucherOf = (currency: Currency): string => `voucher:${currency}`
/** Balances that customers brought over from another panel; negative, and no sale. */
export const openingOf = (currency: Currency): string => `opening:${currency}`
/** Our bank account; negative while money lies on it. */
export const bankOf = (currency: Currency): string => `bank:${currency}`
/** A gateway's fees; negative. */
export const feeOf = (driver: string, currency: Currency): string => `fee:${driver}:${currency}`

/** All accounts of the operator's own, for these gateways and products, in every currency. */
export const houseAccounts = (of: {
  readonly drivers: readonly string[]
  readonly products: readonly string[]
}): { code: string; currency: Currency }[] =>
  currencies.flatMap((currency) =>
    [
      ...of.drivers.flatMap((driver) =>
        [gatewayOf, suspenseOf, payableOf, receivableOf, feeOf].map((name) =>
          name(driver, currency),
        ),
      ),
      ...of.products.map((product) => revenueOf(product, currency)),
      adjustmentOf(currency),
      bankOf(currency),
      lentOf(currency),
      openingOf(currency),
      voucherOf(currency),
    ].map((code) => ({ code, currency })),
  )

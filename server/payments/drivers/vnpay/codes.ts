/**
 * VNPay's codes, and what they mean to us. Source: .../thanh-toan-pay/pay.html, tables
 * vnp_ResponseCode and vnp_TransactionStatus.
 */
import type { DeclineReason } from '../../../../contract/payments.ts'
import type { UpdateOutcome, ProviderStatus } from '../../driver.ts'

/** vnp_ResponseCode of a payment. Known codes only, for the log and the customer's support. */
export const responseTexts: Readonly<Record<string, string>> = {
  '00': 'paid',
  '07': 'debited, under suspicion of fraud',
  '09': 'card or account not registered for internet banking',
  '10': 'wrong card or account details, three times',
  '11': 'not paid in time',
  '12': 'card or account locked',
  '13': 'wrong one-time password',
  '24': 'cancelled by the customer',
  '51': 'not enough money on the account',
  '65': 'over the daily limit',
  '75': 'bank under maintenance',
  '79': 'wrong payment password, too often',
  '99': 'other error',
}

const reasons: Readonly<Record<string, DeclineReason>> = {
  '09': 'not_enrolled',
  '10': 'wrong_details',
  '11': 'not_in_time',
  '12': 'blocked',
  '13': 'wrong_code',
  '24': 'cancelled',
  '51': 'insufficient_funds',
  '65': 'limit',
  '75': 'bank_unavailable',
  '79': 'wrong_code',
}
/** A payment update's detail begins with its vnp_ResponseCode; an answer to querydr has none. */
export const declineReason = (detail: string): DeclineReason | undefined =>
  reasons[/^(\d\d)\//.exec(detail)?.[1] ?? '']

/**
 * vnp_TransactionStatus, the state of the money: 00 received, 01 not finished, 02 failed, 04 taken
 * by the bank and not yet received, 05 and 06 being refunded, 07 suspected fraud, 09 VNPay refused
 * the refund (so the money is still ours). An unknown status counts as undecided.
 */
export function statusOfTransaction(transactionStatus: string): ProviderStatus {
  switch (transactionStatus) {
    case '00':
    case '09':
      return 'succeeded'
    case '02':
      return 'failed'
    case '05':
    case '06':
      return 'refunded'
    default:
      return 'pending'
  }
}

/**
 * A webhook carries two codes. The money came only when both say 00; when they contradict one
 * another, or say 07, it is not decided.
 */
export function statusOfNotice(responseCode: string, transactionStatus: string): ProviderStatus {
  if (responseCode === '07') return 'pending'
  const status = statusOfTransaction(transactionStatus)
  if (status === 'succeeded')
    return responseCode === '00' && transactionStatus === '00' ? 'succeeded' : 'pending'
  if (responseCode === '00') return status
  // the bank's refusal is final even where the transaction is still called unfinished
  return transactionStatus === '01' && responseCode in responseTexts && responseCode !== '99'
    ? 'failed'
    : status
}

/**
 * The responses that VNPay expects. It calls again (10 times, 5 minutes apart) until it gets 00 or
 * 02.
 */
export const answers: Readonly<
  Record<UpdateOutcome, { readonly RspCode: string; readonly Message: string }>
> = {
  recorded: { RspCode: '00', Message: 'Confirm Success' },
  already: { RspCode: '02', Message: 'Order already confirmed' },
  unknown_order: { RspCode: '01', Message: 'Order not found' },
  wrong_amount: { RspCode: '04', Message: 'Invalid amount' },
  forged: { RspCode: '97', Message: 'Invalid signature' },
  error: { RspCode: '99', Message: 'Unknown error' },
}

/**
 * Moves a billing module through time, and reads what each moment caused: jobs, letters and events.
 */
import type { TestBilling } from './test-billing.ts'

/** For a billing module that must be open when the functions are called. */
export function calendarOf(billing: () => TestBilling) {
  /** Sets the clock to a moment, and runs everything that is due. */
  async function at(moment: string | Date): Promise<void> {
    billing().clock.advance(new Date(moment).getTime() - billing().clock.now().getTime())
    await billing().bills.sweep()
  }
  const jobsOf = (id: string): string[] =>
    billing()
      .jobs.filter(({ payload }) => payload['subscriptionId'] === id)
      .map(({ name }) => name)
  const mailsTo = ({ email }: { email: string }): string[] =>
    billing()
      .mails.filter(({ to }) => to === email)
      .map(({ subject }) => subject)
  const isReceipt = (subject: string): boolean =>
    /^Đã thanh toán hoá đơn \S+$|^Invoice \S+ is paid$/.test(subject)
  /** Subjects of letters, without receipts. */
  const lettersTo = (customer: { email: string }): string[] =>
    mailsTo(customer).filter((subject) => !isReceipt(subject))
  const receiptsTo = (customer: { email: string }): string[] => mailsTo(customer).filter(isReceipt)
  const eventsOf = ({ id }: { id: string }): string[] =>
    billing()
      .published.filter(({ customerId }) => customerId === id)
      .map(({ event }) => event)

  return { at, jobsOf, lettersTo, receiptsTo, eventsOf }
}

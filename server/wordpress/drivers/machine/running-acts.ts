/**
 * Asks a site's PHP while it runs. Each request goes to a container that answers, with a ticket
 * that lies in the site's folder during the act.
 */
import { DriverFailure } from '../../../platform/errors.ts'
import type {
  AddressChange,
  AddressStep,
  CommandOrder,
  CommandResult,
  DatabaseAnswer,
  DatabaseOp,
  DatabaseOrders,
  InstalledSoftware,
  PageAnswer,
  PageQuestion,
  SiteAddress,
  ToolFault,
} from '../../driver.ts'
import { answerOfAct, pageOf, softwareShape, stepMs, upgradeShape } from './acts.ts'
import { replaceAddressesAt } from './addresses.ts'
import type { SiteFolder } from './site-folder.ts'
import type { Slots } from './slots.ts'
import { writeTicket, type ActName } from './tickets.ts'
import {
  answerOfTool,
  commandShape,
  commandStepMs,
  databaseShape,
  toolMark,
  type ToolTimes,
} from './tools.ts'

export class RunningActs {
  readonly #id: string
  readonly #slots: Slots
  readonly #folder: SiteFolder
  readonly #times: ToolTimes

  constructor(id: string, slots: Slots, folder: SiteFolder, times: ToolTimes) {
    this.#id = id
    this.#slots = slots
    this.#folder = folder
    this.#times = times
  }

  async adminLink(user: string): Promise<string> {
    const { spec } = this.#slots
    if (!spec || this.#slots.addresses().length === 0)
      throw new DriverFailure('unavailable', `site ${this.#id} is not started`)
    return (
      `${spec.url}/portal-sign-in/` +
      `${await writeTicket(this.#folder.tickets, { user }, await this.#folder.owner())}`
    )
  }

  /** A container that answers, and the site's own host name. */
  #answering(): { at: SiteAddress; host: string } {
    const { spec } = this.#slots
    const [at] = this.#slots.addresses()
    if (!spec || !at) throw new DriverFailure('unavailable', `site ${this.#id} is not started`)
    return { at, host: new URL(spec.url).host }
  }
  async #actTicket(act: ActName, step: object, ms?: number): Promise<string> {
    const allowed = { act, step, ...(ms !== undefined && { ms }) }
    return await writeTicket(this.#folder.tickets, allowed, await this.#folder.owner())
  }

  /**
   * Does an act that may be repeated: if the container was replaced meanwhile, the next one is
   * asked.
   */
  async #actRepeatably<T>(
    ticketOf: () => Promise<string>,
    ask: (at: SiteAddress, ticket: string, host: string) => Promise<T>,
  ): Promise<T> {
    let ticket = await ticketOf()
    const { at, host } = this.#answering()
    try {
      return await ask(at, ticket, host)
    } catch (error) {
      if (this.#slots.addresses().some(({ port }) => port === at.port)) throw error
    }
    ticket = await ticketOf()
    const next = this.#answering()
    return await ask(next.at, ticket, next.host)
  }

  async replaceAddresses(change: AddressChange, after: AddressStep['after']): Promise<AddressStep> {
    const step = { ...change, after, ms: stepMs }
    const ticketOf = () => this.#actTicket('replace-addresses', step)
    return await this.#actRepeatably(ticketOf, replaceAddressesAt)
  }

  async software(): Promise<InstalledSoftware> {
    return await this.#actRepeatably(
      () => this.#actTicket('list-software', {}),
      (at, ticket, host) => answerOfAct(at, ticket, host, softwareShape),
    )
  }

  async upgradeDatabase(): Promise<void> {
    const { at, host } = this.#answering()
    const ticket = await this.#actTicket('upgrade-database', {})
    const { after, files } = await answerOfAct(at, ticket, host, upgradeShape)
    if (after !== files)
      throw new DriverFailure('rejected', `the database stays at version ${after} of ${files}`)
  }

  async console(order: CommandOrder): Promise<CommandResult | ToolFault> {
    const { at, host } = this.#answering()
    const mark = toolMark()
    const step = { ...order, mark, ms: commandStepMs }
    const ticket = await this.#actTicket('console', step, this.#times.commandMs)
    return await answerOfTool(at, { ticket, mark, host }, commandShape)
  }

  async database<Op extends DatabaseOp>(
    op: Op,
    order: DatabaseOrders[Op],
  ): Promise<DatabaseAnswer<Op>> {
    const { at, host } = this.#answering()
    const mark = toolMark()
    const step = { ...order, op, mark, isShort: true }
    const ticket = await this.#actTicket('database', step, this.#times.databaseMs)
    return await answerOfTool(at, { ticket, mark, host }, databaseShape(op))
  }

  async page(question: PageQuestion): Promise<PageAnswer> {
    const { at, host } = this.#answering()
    return await pageOf(at, host, question)
  }
}

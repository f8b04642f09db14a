// The stand-in for a process that runs PHP (php-process.js).
import fs from 'node:fs'
import { MailSpool } from './mail-spool.js'
import { SimulatedBudget, SimulatedPhp } from './simulated-php.js'

export class SimulatedProcess {
  ready
  ended
  ownCalls = 0
  idle = true
  #php
  #budget
  #mail
  #end

  constructor({ order, log }) {
    this.#budget = new SimulatedBudget(order, (full) => log({ s: 'disk-full', ...full }))
    this.#mail = new MailSpool({
      dir: order.mailDir,
      isOn: order.mail,
      log: (m) => log({ s: 'php', m }),
      onLetter: () => log({ ev: 'mail' }),
    })
    this.#php = new SimulatedPhp(order, this.#budget, this.#mail)
    this.log = log
    this.ready = this.#php.injectFault('boot')
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get told() {
    return this.#budget.told
  }
  processor() {
    return null
  }
  rss() {
    return 0
  }
  yieldTo() {}
  resize({ ssdBytes, databaseBytes, mail }) {
    this.#budget.resize({ ssd: ssdBytes, database: databaseBytes })
    this.#mail.isOn = mail === true
  }

  async install(admin) {
    const { already } = this.#php.install(admin)
    if (!already) await this.#php.injectFault('installed')
    return { already: already === true }
  }

  async run({ bodyFile, body, ...request }, answer) {
    this.idle = false
    if (bodyFile) request.body = fs.readFileSync(bodyFile)
    else if (body) request.body = Buffer.from(body, 'base64')
    const { status, headers, text, errors } = await this.#php.respond(request)
    for (const line of errors) this.log({ s: 'php', m: line })
    answer.head({ status, headers })
    if (text) await answer.data(Buffer.from(text))
    this.idle = true
    return { how: 'done', exitCode: 0 }
  }

  kill(why) {
    this.#end(why)
  }
}

/**
 * One working day of an operator in Chromium: thirty tasks at the desk of a small provider, each
 * begun on the start page and done by presses and keys alone. Prints what each took; exits 1 when
 * one cannot be done. LANGUAGES=en,vi: the day in each (en if absent). SHOTS=folder: pictures of
 * every page of the day, light and dark, in both languages. ONLY=ticket|label: only some tasks.
 */
import { mkdirSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { visitAs, wide } from '../test/e2e/browser.ts'
import { enOperator } from '../web/i18n/en-operator.ts'
import { viOperator } from '../web/i18n/vi-operator.ts'
import type { DeskLanguage } from '../web/operator/language.ts'
import { customerTasks } from './day-customers.ts'
import { handOf, newTally, type Desk, type Hand, type Tally } from './day-hand.ts'
import { moneyTasks } from './day-money.ts'
import { peopleTasks } from './day-people.ts'
import { openProvider, type Role } from './day-provider.ts'
import { sellingTasks } from './day-selling.ts'
import type { Day, Task } from './day-task.ts'
import { workTasks } from './day-work.ts'

const only = new RegExp(process.env['ONLY'] ?? '', 'i')
const tasks = [
  ...customerTasks,
  ...moneyTasks,
  ...workTasks,
  ...sellingTasks,
  ...peopleTasks,
].filter(({ name }) => only.test(name))
/**
 * Seconds for a practised hand to point and press, and to strike a key, by the keystroke-level
 * model of Card, Moran and Newell. Reading and thinking are not included.
 */
const pressSeconds = 1.3
const keySeconds = 0.28
/** Longest wait for the result of a press, ms; a user who waits longer assumes a failure. */
const longestWaitMs = 20_000

interface Taken extends Tally {
  readonly task: Task
  readonly seconds: number
  readonly failure: string | undefined
}

const shots = process.env['SHOTS']
const languages = (process.env['LANGUAGES'] ?? (shots === undefined ? 'en' : 'en,vi')).split(',')
const texts = { en: enOperator, vi: viOperator }

/** Every member signs in with a password and a code of the app. */
async function signIn(day: Omit<Day, 'hands'>, desk: Desk, browser: Browser): Promise<Day> {
  const { t, language, provider } = day
  const hands: [string, Hand][] = []
  for (const [role, member] of Object.entries(provider.staff)) {
    const visit = await visitAs(browser, { language, viewport: wide })
    visit.context.setDefaultTimeout(longestWaitMs)
    const hand = handOf(desk, visit)
    await hand.page.goto(`${desk.url}/operator`)
    if (role === 'owner') await hand.look('sign-in')
    await hand.type(hand.page.getByLabel(t.signIn.email), member.email)
    await hand.type(hand.page.getByLabel(t.signIn.password, { exact: true }), member.password)
    // The present code was already used when the invitation was accepted.
    await hand.type(hand.page.getByLabel(t.signIn.code), member.code(1))
    await hand.press(hand.page.getByRole('button', { name: t.signIn.submit, exact: true }))
    await hand.page.getByRole('heading', { level: 1, name: t.overview.title }).waitFor()
    hands.push([role, hand])
  }
  return { ...day, hands: Object.fromEntries(hands) as Record<Role, Hand> }
}

async function take(task: Task, day: Day, desk: Desk): Promise<Taken> {
  desk.tally = newTally()
  const hand = day.hands[task.role]
  task.before?.(day)
  await hand.atStart()
  const began = performance.now()
  const seconds = () => (performance.now() - began - desk.tally.pausedMs) / 1000
  let took: number | undefined
  try {
    await task.does(day, hand)
    took = seconds()
    await task.proof?.(day)
    return { ...desk.tally, task, seconds: took, failure: undefined }
  } catch (error) {
    await hand.look('failed')
    const failure = error instanceof Error ? error.message : String(error)
    return { ...desk.tally, task, seconds: took ?? seconds(), failure }
  }
}

function print(taken: readonly Taken[]): void {
  console.log(' #  clicks  fields  keys  seconds  by hand  task')
  for (const [at, { task, clicks, fields, keys, seconds, failure }] of taken.entries()) {
    const byHand = (clicks + fields) * pressSeconds + keys * keySeconds
    console.log(
      `${String(at + 1).padStart(2)}  ${String(clicks).padStart(6)}  ` +
        `${String(fields).padStart(6)}  ${String(keys).padStart(4)}  ` +
        `${seconds.toFixed(1).padStart(7)}  ${byHand.toFixed(0).padStart(7)}  ${task.name}` +
        (failure === undefined ? '' : `\n    NOT DONE: ${failure}`),
    )
  }
  const sum = (of: (one: Taken) => number) => taken.reduce((all, one) => all + of(one), 0)
  console.log(
    `${taken.length} tasks: ${sum(({ clicks }) => clicks)} clicks, ` +
      `${sum(({ fields }) => fields)} fields, ` +
      `${sum(({ seconds }) => seconds).toFixed(1)} s of portal and browser`,
  )
}

async function live(language: DeskLanguage, browser: Browser): Promise<readonly Taken[]> {
  const provider = await openProvider()
  try {
    const t = texts[language]
    const { url } = provider.portal
    const desk: Desk = { url, language, t, tally: newTally(), shots, pictures: 0 }
    const day = await signIn({ provider, t, language }, desk, browser)
    const taken: Taken[] = []
    for (const task of tasks) taken.push(await take(task, day, desk))
    for (const [role, { complaints }] of Object.entries(day.hands))
      // The first page load of the desk finds no session, which the browser logs.
      for (const complaint of complaints.slice(1)) console.log(`the page of ${role}: ${complaint}`)
    return taken
  } finally {
    await Promise.all(browser.contexts().map((context) => context.close()))
    await provider.close()
  }
}

if (shots !== undefined) mkdirSync(shots, { recursive: true })
const browser = await chromium.launch({
  executablePath: await browserPath(),
  args: browserArguments,
})
let failed = 0
try {
  for (const language of languages) {
    if (language !== 'en' && language !== 'vi')
      throw new Error(`no language of the desk: ${language}`)
    console.log(`\nA day in ${language === 'en' ? 'English' : 'Vietnamese'}`)
    const taken = await live(language, browser)
    print(taken)
    failed += taken.filter(({ failure }) => failure !== undefined).length
  }
} finally {
  await browser.close()
}
process.exit(failed === 0 ? 0 : 1)

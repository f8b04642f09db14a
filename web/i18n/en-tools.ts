import { enDatabase } from './en-database.ts'
import { plural } from './plural.ts'

/** English: a server's console and database. */
export const enTools = {
  ...enDatabase,
  console: {
    title: 'Console',
    hint:
      'The usual commands of WP-CLI, run on this site. Tab completes a word, the arrow keys ' +
      'bring back earlier commands.',
    log: 'Commands and what they gave',
    welcome: 'Type “help” to see all commands.',
    prompt: 'Command',
    run: 'Run',
    help: 'Help',
    clear: 'Clear',
    running: 'Running…',
    copyOf: (command: string) => `Copy what “${command}” gave`,
    cut: 'There is more than fits: the rest is left out.',
    empty: 'Nothing found.',
    took: (ms: string) => `${ms} ms`,
    choices: (all: string) => `Possible: ${all}`,
    closed: 'Commands can be run while the server runs.',
    confirmTitle: 'Run this command?',
    confirmText: 'It changes or deletes much, and there is no undo. A backup made now would help.',
    confirm: 'Run it',
    history: 'History',
    historyHint: 'Who ran what, for 90 days. What a command gave and passwords are not kept.',
    noHistory: 'No command was run here yet.',
    more: (count: number) => `Show ${plural(count, 'more command', 'more commands')}`,
    use: (command: string) => `Put “${command}” into the prompt`,
    outcomes: {
      done: 'Done',
      failed: 'Failed',
      slow: 'Took too long',
      broken: 'Ended by the site',
      lost: 'Not known',
      running: 'Running',
    },
  },
}

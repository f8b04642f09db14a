import { useState, type KeyboardEvent } from 'react'
import { completionsOf } from '../../contract/wordpress-console.ts'

/** The longest common prefix. */
function sharedStart(words: readonly string[]): string {
  const [first = '', ...rest] = words
  let length = first.length
  for (const word of rest) while (!word.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}

/** The line after a press of Tab, and the possible completions. */
function completed(line: string): { line: string; choices: readonly string[] } {
  const choices = completionsOf(line)
  if (choices.length === 0) return { line, choices }
  const start = line.slice(0, line.length - (/\S*$/.exec(line)?.[0].length ?? 0))
  const word = sharedStart(choices)
  const isWhole = choices.length === 1 && !word.endsWith('=')
  return {
    line: `${start}${word}${isWhole ? ' ' : ''}`,
    choices: choices.length > 1 ? choices : [],
  }
}

/**
 * A command line: Tab completes it, and leaves the field where there is nothing to complete; the
 * arrow keys walk through `past`, newest first.
 */
export function usePrompt(past: readonly string[]) {
  const [line, setLine] = useState('')
  const [choices, setChoices] = useState<readonly string[]>([])
  /** Position in the history; -1 is the line that is being typed. */
  const [at, setAt] = useState(-1)
  const [draft, setDraft] = useState('')

  const type = (next: string) => {
    setLine(next)
    setChoices([])
    setAt(-1)
  }
  const go = (steps: number) => {
    const next = Math.min(past.length - 1, Math.max(-1, at + steps))
    // Beyond either end the line stays unchanged.
    if (next === at) return
    if (at === -1) setDraft(line)
    setAt(next)
    setLine(next === -1 ? draft : (past[next] ?? ''))
    setChoices([])
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>, onRun: (line: string) => void) => {
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey
    if (!isPlain || event.nativeEvent.isComposing) return
    if (event.key === 'Enter') {
      event.preventDefault()
      onRun(line)
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault()
      go(event.key === 'ArrowUp' ? 1 : -1)
    } else if (event.key === 'Tab' && line !== '') {
      const next = completed(line)
      // A second press of Tab in the same place moves to the next field.
      if (next.line === line && (next.choices.length === 0 || choices.length > 0)) return
      event.preventDefault()
      type(next.line)
      setChoices(next.choices)
    }
  }
  return { line, type, choices, onKeyDown }
}

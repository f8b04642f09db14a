import type { ConsoleAnswer } from '../../contract/wordpress-console.ts'
import { useTexts } from '../i18n/index.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { cx } from '../ui/cx.ts'

/** A command that was run on this page, and its result. */
export interface Run {
  readonly key: number
  readonly command: string
  readonly answer?: ConsoleAnswer
  /** Why the command was not run. */
  readonly fault?: string
}

const toneOf = (message: string): string => {
  if (message.startsWith('Success:')) return 'text-[#4ade9a]'
  if (message.startsWith('Error:')) return 'text-[#ff8b96]'
  return message.startsWith('Warning:') ? 'text-[#f4bb55]' : ''
}

/** The result as text, with tabs between cells, as spreadsheets accept it. */
const copied = ({ table, text, messages }: ConsoleAnswer): string =>
  [
    ...(text === null ? [] : [text]),
    ...(table ? [table.columns, ...table.rows].map((row) => row.join('\t')) : []),
    ...messages,
  ].join('\n')

export function CommandOutput({ run: { command, answer, fault } }: { run: Run }) {
  const t = useTexts('tools')
  return (
    <article className="px-4 pb-3">
      <p className="flex items-start gap-2">
        <span className="min-w-0 flex-1 break-all text-[#a3b4ff]">
          <span aria-hidden>$ wp </span>
          {command}
        </span>
        {answer ? (
          <CopyButton
            text={copied(answer)}
            label={t.console.copyOf(command)}
            doneLabel={t.common.copied}
            className="-my-1.5 text-[#9aa5ba]! hover:bg-white/10!"
          />
        ) : null}
      </p>
      {fault === undefined ? null : <p className="break-words text-[#ff8b96]">{fault}</p>}
      {answer ? <Given answer={answer} /> : null}
    </article>
  )
}

function Given({ answer: { command, text, table, messages, isCut } }: { answer: ConsoleAnswer }) {
  const t = useTexts('tools')
  return (
    <>
      {text === null || text === '' ? null : (
        <pre className="overflow-x-auto whitespace-pre-wrap break-words">{text}</pre>
      )}
      {table && table.rows.length === 0 ? (
        <p className="text-[#9aa5ba]">{t.console.empty}</p>
      ) : null}
      {table && table.rows.length > 0 ? (
        /* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex,
           jsx-a11y/prefer-tag-over-role */
        <div role="group" aria-label={command} tabIndex={0} className="overflow-x-auto">
          <table className="border-collapse text-left">
            <thead>
              <tr className="border-b border-white/20 text-[#9aa5ba]">
                {table.columns.map((name) => (
                  <th key={name} scope="col" className="py-0.5 pr-6 font-normal whitespace-nowrap">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row, index) => (
                // oxlint-disable-next-line react/no-array-index-key
                <tr key={index} className="align-top hover:bg-white/5">
                  {row.map((value, column) => (
                    <td
                      // oxlint-disable-next-line react/no-array-index-key
                      key={column}
                      className={cx(
                        'max-w-96 py-0.5 pr-6',
                        value.length > 40 ? 'min-w-64 break-words' : 'whitespace-nowrap',
                      )}
                    >
                      {value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
      {isCut ? <p className="text-[#f4bb55]">{t.console.cut}</p> : null}
      {messages.map((message, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <p key={index} className={cx('break-words whitespace-pre-wrap', toneOf(message))}>
          {message}
        </p>
      ))}
    </>
  )
}

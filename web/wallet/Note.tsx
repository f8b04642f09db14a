const withNumber = /^(.+) \(([^\s()]+)\)$/

/** Splits "Payment · name (VN-2026-000001)" into its text and its invoice number. */
export function noteParts(description: string): { text: string; number: string | undefined } {
  const [, text, number] = withNumber.exec(description) ?? []
  return { text: text ?? description, number }
}

/** An entry's note; its invoice number is not broken across lines. */
export function TransactionNote({ description }: { description: string }) {
  const { text, number } = noteParts(description)
  if (number === undefined) return text
  return (
    <>
      {text} <span className="num whitespace-nowrap">({number})</span>
    </>
  )
}

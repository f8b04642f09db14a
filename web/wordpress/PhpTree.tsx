import type { PhpValue } from './php-value.ts'

/** A serialized PHP value, as a readable tree. */
export function PhpTree({ value }: { value: PhpValue }) {
  if (value.kind === 'leaf') return <span className="font-mono break-all">{value.text}</span>
  return (
    <div className="min-w-0 font-mono">
      <span className="text-ink-3">
        {value.name} ({value.members.length})
      </span>
      <ul className="border-l border-border pl-4">
        {value.members.map(({ key, value: inner }, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="flex flex-wrap gap-x-2">
            <span className="text-ink-2">{key}:</span>
            <PhpTree value={inner} />
          </li>
        ))}
      </ul>
    </div>
  )
}

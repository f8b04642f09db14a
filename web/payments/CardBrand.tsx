import { CreditCard } from 'lucide-react'

/** Display names of known brands; others are shown as the provider writes them. */
const names: Record<string, string> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  amex: 'American Express',
  jcb: 'JCB',
}

export const brandName = (brand: string): string =>
  names[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1)

const plate = 'h-7 w-11 shrink-0 rounded-[5px] shadow-[0_0_0_1px_var(--border)]'

/** A card's brand as a small plate. It is decorative, because the name stands beside it. */
export function CardBrand({ brand }: { brand: string }) {
  if (brand === 'visa')
    return (
      <svg aria-hidden viewBox="0 0 44 28" className={plate}>
        <rect width="44" height="28" rx="5" fill="#fff" />
        <text
          x="22"
          y="19"
          textAnchor="middle"
          fontFamily="Arial, sans-serif"
          fontSize="13"
          fontWeight="700"
          fontStyle="italic"
          fill="#1434CB"
        >
          VISA
        </text>
      </svg>
    )
  if (brand === 'mastercard')
    return (
      <svg aria-hidden viewBox="0 0 44 28" className={plate}>
        <rect width="44" height="28" rx="5" fill="#fff" />
        <circle cx="17.5" cy="14" r="7.5" fill="#EB001B" />
        <circle cx="26.5" cy="14" r="7.5" fill="#F79E1B" />
        <path d="M22 8a7.5 7.5 0 0 1 0 12 7.5 7.5 0 0 1 0-12Z" fill="#FF5F00" />
      </svg>
    )
  if (brand === 'amex')
    return (
      <svg aria-hidden viewBox="0 0 44 28" className={plate}>
        <rect width="44" height="28" rx="5" fill="#006FCF" />
        <text
          x="22"
          y="18"
          textAnchor="middle"
          fontFamily="Arial, sans-serif"
          fontSize="10.5"
          fontWeight="700"
          fill="#fff"
        >
          AMEX
        </text>
      </svg>
    )
  if (brand === 'jcb')
    return (
      <svg aria-hidden viewBox="0 0 44 28" className={plate}>
        <rect width="44" height="28" rx="5" fill="#fff" />
        {(['#0E4C96', '#C8102E', '#007B40'] as const).map((fill, index) => (
          <g key={fill}>
            <rect x={9 + index * 9} y="5" width="8" height="18" rx="2.5" fill={fill} />
            <text
              x={13 + index * 9}
              y="17"
              textAnchor="middle"
              fontFamily="Arial, sans-serif"
              fontSize="7.5"
              fontWeight="700"
              fill="#fff"
            >
              {'JCB'[index]}
            </text>
          </g>
        ))}
      </svg>
    )
  return (
    <span aria-hidden className={`${plate} grid place-items-center bg-subtle text-ink-2`}>
      <CreditCard className="size-4" strokeWidth={1.75} />
    </span>
  )
}
